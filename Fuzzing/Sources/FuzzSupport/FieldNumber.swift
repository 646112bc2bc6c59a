/// A number modulo p = 2^255 − 19, in four 64-bit words, the lowest first; below 2^256, and below p only where it matters.
struct FieldNumber {
    private var words: SIMD4<UInt64>

    static let zero = FieldNumber(0)
    static let one = FieldNumber(1)
    private static let prime = SIMD4<UInt64>(0xffff_ffff_ffff_ffed, .max, .max, 0x7fff_ffff_ffff_ffff)

    init(_ number: UInt64) { words = [number, 0, 0, 0] }

    private init(words: SIMD4<UInt64>) { self.words = words }

    /// Nil unless these 32 bytes, little endian, are below p.
    init?(canonical bytes: some Sequence<UInt8>) {
        words = .zero
        for (index, byte) in bytes.enumerated() { words[index / 8] |= UInt64(byte) << (index % 8 * 8) }
        guard Self.isLess(words, Self.prime) else { return nil }
    }

    var bytes: [UInt8] {
        let words = reduced
        return (0..<32).map { UInt8(truncatingIfNeeded: words[$0 / 8] >> ($0 % 8 * 8)) }
    }

    var isZero: Bool { reduced == .zero }
    var isOdd: Bool { reduced[0] & 1 == 1 }
    var inverse: FieldNumber { power(Self.exponent(first: 0xeb, last: 0x7f)) }

    /// 32 bytes, little endian, all 0xff but the first and the last.
    static func exponent(first: UInt8, last: UInt8) -> [UInt8] {
        [first] + [UInt8](repeating: 0xff, count: 30) + [last]
    }

    func power(_ exponent: [UInt8]) -> FieldNumber {
        var power = Self.one
        for byte in exponent.reversed() {
            for bit in (0..<8).reversed() {
                power = power * power
                if byte >> bit & 1 == 1 { power = power * self }
            }
        }
        return power
    }

    static func + (one: FieldNumber, other: FieldNumber) -> FieldNumber {
        var carry: UInt128 = 0
        var sum = SIMD4<UInt64>.zero
        for index in 0..<4 {
            carry += UInt128(one.words[index]) + UInt128(other.words[index])
            sum[index] = UInt64(truncatingIfNeeded: carry)
            carry >>= 64
        }
        return folded(sum, carry: UInt64(carry))
    }

    static func - (one: FieldNumber, other: FieldNumber) -> FieldNumber {
        FieldNumber(words: one.reduced) + FieldNumber(words: difference(prime, other.reduced))
    }

    static func * (one: FieldNumber, other: FieldNumber) -> FieldNumber {
        var product = SIMD8<UInt64>.zero
        for first in 0..<4 {
            var carry: UInt128 = 0
            for second in 0..<4 {
                carry += UInt128(one.words[first]) * UInt128(other.words[second]) + UInt128(product[first + second])
                product[first + second] = UInt64(truncatingIfNeeded: carry)
                carry >>= 64
            }
            product[first + 4] = UInt64(carry)
        }
        // 2^256 is 38 modulo p.
        var carry: UInt128 = 0
        var low = SIMD4<UInt64>.zero
        for index in 0..<4 {
            carry += UInt128(product[index]) + 38 * UInt128(product[index + 4])
            low[index] = UInt64(truncatingIfNeeded: carry)
            carry >>= 64
        }
        return folded(low, carry: UInt64(carry))
    }

    /// The number with a fifth word, below 40.
    private static func folded(_ words: SIMD4<UInt64>, carry: UInt64) -> FieldNumber {
        var words = words
        var carry = UInt128(carry) * 38
        while carry != 0 {
            for index in 0..<4 {
                carry += UInt128(words[index])
                words[index] = UInt64(truncatingIfNeeded: carry)
                carry >>= 64
            }
            carry *= 38
        }
        return FieldNumber(words: words)
    }

    private var reduced: SIMD4<UInt64> {
        var words = words
        while !Self.isLess(words, Self.prime) { words = Self.difference(words, Self.prime) }
        return words
    }

    private static func isLess(_ one: SIMD4<UInt64>, _ other: SIMD4<UInt64>) -> Bool {
        for index in (0..<4).reversed() where one[index] != other[index] { return one[index] < other[index] }
        return false
    }

    private static func difference(_ one: SIMD4<UInt64>, _ other: SIMD4<UInt64>) -> SIMD4<UInt64> {
        var borrow = false
        var difference = SIMD4<UInt64>.zero
        for index in 0..<4 {
            let (first, isBelow) = one[index].subtractingReportingOverflow(other[index])
            let (second, isStillBelow) = first.subtractingReportingOverflow(borrow ? 1 : 0)
            difference[index] = second
            borrow = isBelow || isStillBelow
        }
        return difference
    }
}
