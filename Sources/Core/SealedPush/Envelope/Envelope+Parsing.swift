internal import PushCore

extension Envelope {
    /// No envelope is longer: 4,096 characters of base64url hold no more bytes.
    public static let maximumByteCount = 3_072

    /// Reads the field's text: base64url without padding, strictly.
    public init(parsing text: String) throws(EnvelopeError) {
        guard text.utf8.count <= Base64URL.textByteCount(of: Self.maximumByteCount) else { throw .tooLong }
        guard let bytes = Base64URL.decode(text.utf8) else { throw .notBase64URL }
        try self.init(parsing: bytes)
    }

    /// Reads an envelope's bytes.
    public init(parsing bytes: [UInt8]) throws(EnvelopeError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong }
        guard let first = bytes.first else { throw .empty }
        guard let suite = Suite.known.first(where: { $0.identifier == first }) else { throw .unknownSuite(first) }
        let minimum = suite.overheadByteCount + 1
        guard bytes.count >= minimum else { throw .tooShort(byteCount: bytes.count, minimum: minimum) }
        self.init(suite: suite, bytes: bytes)
        if case .authenticated(let isSafe, _, _) = suite.method, !enc.withUnsafeBytes(isSafe) {
            throw .unsafeEncapsulatedKey
        }
    }
}

/// Why bytes are not an envelope.
public enum EnvelopeError: Error, Equatable, Sendable {
    /// Not base64url without padding in its one canonical form.
    case notBase64URL
    /// Nothing there.
    case empty
    /// More than ``Envelope/maximumByteCount`` bytes.
    case tooLong
    /// A first byte that stands for no suite.
    case unknownSuite(UInt8)
    /// Less than header, one sealed byte and tag.
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
            "the envelope is cut: \(count) bytes, where its suite has at least \(minimum)"
        case .unsafeEncapsulatedKey: "the envelope's encapsulated key is not a safe X25519 public key"
        }
    }
}
