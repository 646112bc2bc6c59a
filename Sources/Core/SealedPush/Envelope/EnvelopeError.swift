internal import PushCore

/// A reason why bytes aren't an envelope.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum EnvelopeError: Error, Equatable, Sendable {
    /// Not canonical base64url without padding.
    case notBase64URL
    /// There are no bytes.
    case empty
    /// More than ``Envelope/maximumByteCount`` bytes.
    case tooLong
    /// The first byte isn't a known suite.
    case unknownSuite(UInt8)
    /// Fewer bytes than the header, one sealed byte, and the tag.
    case tooShort(byteCount: Int, minimum: Int)
    /// `enc` is not canonical, or of low order (Specification 3.3).
    case unsafeEncapsulatedKey
}

extension EnvelopeError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .notBase64URL: "the envelope is not base64url without padding"
        case .empty: "the envelope is empty"
        case .tooLong: "the envelope is longer than \(Envelope.maximumByteCount) bytes"
        case .unknownSuite(let byte): "the envelope has the unknown suite \(Hex.encode([byte]))"
        case .tooShort(let count, let minimum):
            "the envelope is truncated: it has \(count) bytes, but its suite needs at least \(minimum)"
        case .unsafeEncapsulatedKey: "the envelope's encapsulated key is not a safe X25519 public key"
        }
    }
}
