import PushCore

/// The first four bytes of SHA-256 over a public key, to tell keys apart on a screen and in a log.
///
/// It never travels with a push. Anyone can make a key with a given ID, so a match isn't proof. Source: Specification 3.2.
public struct KeyID: Hashable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    init(of key: [UInt8]) { bytes = Array(key.withUnsafeBytes { SHA256.hash($0) }[..<4]) }

    /// Eight lowercase hexadecimal digits.
    public var description: String { Hex.encode(bytes) }
}
