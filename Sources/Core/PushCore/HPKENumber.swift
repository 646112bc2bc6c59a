/// A message's number in its context: 96 bits, big endian. Source: RFC 9180 section 5.2, `ComputeNonce`.
package struct HPKENumber: Hashable, Sendable {
    package static let byteCount = 12
    private let high: UInt32
    private let low: UInt64

    package init(_ value: UInt64) { (high, low) = (0, value) }

    /// Creates a number from exactly 12 bytes.
    package init(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count == Self.byteCount)
        high = UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))
        low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt64.self))
    }

    package func write(into bytes: UnsafeMutableRawBufferPointer) {
        bytes.storeBytes(of: high.bigEndian, as: UInt32.self)
        bytes.storeBytes(of: low.bigEndian, toByteOffset: 4, as: UInt64.self)
    }

    package static func ^ (one: HPKENumber, other: HPKENumber) -> HPKENumber {
        HPKENumber(high: one.high ^ other.high, low: one.low ^ other.low)
    }

    private init(high: UInt32, low: UInt64) { (self.high, self.low) = (high, low) }
}
