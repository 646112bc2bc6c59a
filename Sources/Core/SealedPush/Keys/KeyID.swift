internal import PushCore

/// The first four bytes of SHA-256 over a public key: a hint for finding a key, never proof of one.
///
/// Anyone can make a key with a given ID; nothing may be believed because an ID fits. Source: Specification 3.2.
public struct KeyID: Hashable, Sendable, CustomStringConvertible {
    package static let byteCount = 4
    private let value: UInt32

    init(of key: [UInt8]) {
        let digest = key.withUnsafeBytes { SHA256.hash($0) }
        self.init(digest[..<Self.byteCount])
    }

    /// Takes exactly four bytes.
    init(_ bytes: ArraySlice<UInt8>) {
        precondition(bytes.count == Self.byteCount)
        value = bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

    package var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) } }

    /// Writes the four bytes.
    func write(into bytes: UnsafeMutableRawBufferPointer, at place: Range<Int>) {
        bytes.storeBytes(of: value.bigEndian, toByteOffset: place.lowerBound, as: UInt32.self)
    }

    /// Eight small hexadecimal digits.
    public var description: String { Hex.encode(bytes) }
}
