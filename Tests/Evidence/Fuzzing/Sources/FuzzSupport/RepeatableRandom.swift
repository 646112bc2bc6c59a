import CRawSodium

/// Replaces libsodium's random numbers by the same ones for each input, so that findings are reproducible.
public enum RepeatableRandom {
    // libFuzzer calls on one thread, one input after another.
    nonisolated(unsafe) private static var state: UInt64 = 0

    /// Restarts the numbers; call this first for each input.
    public static func restart() {
        demand(isInPlace, "libsodium didn't accept the random numbers")
        state = 0
    }

    private static let isInPlace: Bool = {
        // libsodium keeps the pointer forever.
        let implementation = UnsafeMutablePointer<randombytes_implementation>.allocate(capacity: 1)
        implementation.initialize(
            to: randombytes_implementation(
                implementation_name: {
                    let name: StaticString = "repeatable"
                    return UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
                }, random: { UInt32(truncatingIfNeeded: RepeatableRandom.next()) }, stir: nil, uniform: nil,
                buf: { start, count in
                    let bytes = UnsafeMutableRawBufferPointer(start: start, count: count)
                    for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: RepeatableRandom.next()) }
                }, close: nil))
        return randombytes_set_implementation(implementation) == 0 && sodium_init() >= 0
    }()

    /// Source: SplitMix64, Steele, Lea and Flood, 2014.
    private static func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }
}
