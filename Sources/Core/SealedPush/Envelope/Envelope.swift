internal import PushCore

/// The sealed bytes as they travel, taken apart as far as that goes without a key.
///
/// Parsing checks the form only: who sealed it, and whether it opens, is for ``Opener``. Source: Specification 3.
public struct Envelope: Sendable {
    /// The payload's key that holds one, beside `aps`.
    public static let fieldName = "custom-encrypted-message"

    package let suite: Suite
    /// The whole envelope, header included.
    public let bytes: [UInt8]

    /// The hint by which a device finds its key.
    public var recipientHint: KeyHint { KeyHint(bytes[Suite.recipientHint]) }
    /// The hint by which a device finds the sender among those it trusts; nil if the suite proves no sender.
    public var senderHint: KeyHint? { suite.isAuthenticated ? KeyHint(bytes[Suite.senderHint]) : nil }
    /// The message's number within its HPKE context, 12 bytes; nil if the suite proves no sender.
    public var number: [UInt8]? { suite.isAuthenticated ? Array(bytes[suite.number]) : nil }
    /// The encapsulated key.
    package var enc: ArraySlice<UInt8> { bytes[suite.enc] }

    /// How many bytes were sealed: content and padding. An observer learns this number and no other.
    public var plaintextByteCount: Int { bytes.count - suite.overheadByteCount }

    /// The header's bytes, which the tag covers.
    package var headerBytes: ArraySlice<UInt8> { bytes[..<suite.headerByteCount] }
    /// What follows the header: ciphertext and tag, or the sealed box.
    package var sealedBytes: ArraySlice<UInt8> { bytes[suite.headerByteCount...] }

    /// The envelope as the payload carries it.
    public var text: String { Base64URL.encode(bytes) }
}

extension Envelope: Hashable {
    public static func == (one: Envelope, other: Envelope) -> Bool { one.bytes == other.bytes }
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension Envelope {
    /// Seals padded plaintext in a way that proves nothing about its sender.
    package static func sealingAnonymously(_ plaintext: [UInt8], to recipient: DevicePublicKey) -> Envelope {
        guard let suite = Suite.sealing(to: recipient, from: nil), case .anonymous(let seal, _) = suite.method else {
            preconditionFailure("nobody seals to a hybrid key anonymously")
        }
        var bytes = [UInt8](repeating: 0, count: plaintext.count + suite.overheadByteCount)
        bytes.withUnsafeMutableBytes { bytes in
            bytes[0] = suite.identifier
            let sealed = UnsafeMutableRawBufferPointer(rebasing: bytes[suite.headerByteCount...])
            plaintext.withUnsafeBytes { seal($0, recipient, sealed) }
        }
        bytes.replaceSubrange(
            Suite.recipientHint, with: suite.hint(enc: bytes[suite.enc], recipient: recipient).bytes)
        return Envelope(suite: suite, bytes: bytes)
    }

    /// Writes the plaintext into `plaintext`, which has ``plaintextByteCount`` bytes; false where it does not open under these
    /// keys.
    ///
    /// - Parameter sender: whose message it must be; nil where the suite proves nothing about that.
    func open(
        with identity: DevicePrivateKey, from sender: SenderPublicKey?, info: EnvelopeInfo,
        into plaintext: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard suite.fits(identity.recipient), suite.fits(sender) else { return false }
        return bytes.withUnsafeBytes { bytes in
            let header = UnsafeRawBufferPointer(rebasing: bytes[..<suite.headerByteCount])
            let sealed = UnsafeRawBufferPointer(rebasing: bytes[suite.headerByteCount...])
            switch suite.method {
            case .anonymous(_, let open): return open(sealed, identity, plaintext)
            case .authenticated(_, _, let receiving):
                guard let sender else { return false }
                let enc = UnsafeRawBufferPointer(rebasing: bytes[suite.enc])
                let number = HPKENumber(UnsafeRawBufferPointer(rebasing: bytes[suite.number]))
                let pskID = UnsafeRawBufferPointer(rebasing: bytes[suite.pskID])
                return receiving(enc, pskID, identity, sender, info).open(
                    sealed, additionalData: header, number: number, into: plaintext)
            }
        }
    }
}

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
