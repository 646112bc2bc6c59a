/// An X25519 public key that is safe to use: canonical, and not of low order.
///
/// libsodium masks bit 255 and reduces values that are too large, so one key would have several encodings and several key
/// IDs. Such keys are rejected here, once, for every path by which a key enters. Keys are public, so comparisons aren't
/// constant-time. Source: RFC 7748 section 5; Specification 3.3.
package struct X25519PublicKey: Hashable, Sendable {
    package static let byteCount = 32
    private let words: SIMD4<UInt64>

    /// Creates a key from exactly 32 bytes.
    package init(_ bytes: UnsafeRawBufferPointer) throws(X25519Error) {
        guard bytes.count == Self.byteCount, Self.isCanonical(bytes) else { throw .invalidPublicKey }
        words = bytes.loadUnaligned(as: SIMD4<UInt64>.self)
        guard !Self.lowOrder.contains(words) else { throw .invalidPublicKey }
    }

    /// Creates a key from 32 bytes that have already been validated.
    package init(checked bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count == Self.byteCount)
        words = bytes.loadUnaligned(as: SIMD4<UInt64>.self)
    }

    package var bytes: [UInt8] { withBytes { Array($0) } }

    package func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBytes(of: words) { (bytes) throws(Failure) in try body(bytes) }
    }

    /// Whether the bytes are below 2^255 − 19, read as little endian.
    private static func isCanonical(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes[31] & 0x80 == 0 else { return false }
        return bytes[31] != 0x7f || bytes[0] < 0xed || bytes[1..<31].contains { $0 != 0xff }
    }

    /// The canonical points of low order: 0, 1, two of order 8, and −1.
    private static let lowOrder: Set<SIMD4<UInt64>> = Set(
        [
            [UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31),
            [
                0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4, 0x6a,
                0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00,
            ],
            [
                0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef, 0x5b,
                0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57,
            ],
            [0xec] + [UInt8](repeating: 0xff, count: 30) + [0x7f],
        ].map { bytes in bytes.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) } })
}
