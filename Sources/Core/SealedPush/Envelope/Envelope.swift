internal import PushCore

/// The sealed bytes in transit, parsed as far as possible without a key.
///
/// Parsing checks only the form; ``Opener`` determines who sealed it and whether it opens. Source: Specification 3.
public struct Envelope: Sendable {
    /// The key of the envelope in the payload, next to `aps`.
    public static let fieldName = "custom-encrypted-message"
    /// The matching pairs of an identity and a sender that are tried: more indicate an attack or an extreme coincidence.
    /// Source: Specification 3.2.3.
    package static let maximumPairCount = 16

    package let suite: Suite
    /// The whole envelope, including the header.
    public let bytes: [UInt8]

    /// The hint with which a device finds its key.
    public var recipientHint: KeyHint { KeyHint(bytes[Suite.recipientHint]) }
    /// The hint with which a device finds the sender among those it trusts; nil if the suite doesn't prove a sender.
    public var senderHint: KeyHint? { suite.isAuthenticated ? KeyHint(bytes[Suite.senderHint]) : nil }
    /// The message's number within its HPKE context, 12 bytes; nil if the suite doesn't prove a sender.
    public var number: [UInt8]? { suite.isAuthenticated ? Array(bytes[suite.number]) : nil }
    /// The encapsulated key.
    package var enc: ArraySlice<UInt8> { bytes[suite.enc] }

    /// The number of bytes that were sealed: content and padding. It is the only number that an observer learns.
    public var plaintextByteCount: Int { bytes.count - suite.overheadByteCount }

    /// The header's bytes, which the tag covers.
    package var headerBytes: ArraySlice<UInt8> { bytes[..<suite.headerByteCount] }
    /// The bytes after the header: ciphertext and tag, or the sealed box.
    package var sealedBytes: ArraySlice<UInt8> { bytes[suite.headerByteCount...] }

    /// The envelope as the payload carries it.
    public var text: String { Base64URL.encode(bytes) }
}

extension Envelope: Hashable {
    public static func == (one: Envelope, other: Envelope) -> Bool { one.bytes == other.bytes }
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension Envelope {
    /// Seals padded plaintext without proving who sent it.
    package static func sealingAnonymously(_ plaintext: [UInt8], to recipient: DevicePublicKey) -> Envelope {
        guard let suite = Suite.sealing(to: recipient, from: nil) else {
            preconditionFailure("messages to a hybrid key can't be anonymous")
        }
        var bytes = [UInt8](repeating: 0, count: plaintext.count + suite.overheadByteCount)
        bytes.withUnsafeMutableBytes { bytes in
            bytes[0] = suite.rawValue
            let sealed = UnsafeMutableRawBufferPointer(rebasing: bytes[suite.headerByteCount...])
            plaintext.withUnsafeBytes { Suite.sealBox($0, to: recipient, into: sealed) }
        }
        bytes.replaceSubrange(
            Suite.recipientHint, with: suite.hint(enc: bytes[suite.enc], recipient: recipient).bytes)
        return Envelope(suite: suite, bytes: bytes)
    }

    /// Writes the plaintext into `plaintext`, of ``plaintextByteCount`` bytes. Returns false if the envelope
    /// doesn't open under these keys. `sender` is the required sender; nil if the suite doesn't prove one.
    func open(
        with identity: DevicePrivateKey, from sender: SenderPublicKey?, info: EnvelopeInfo,
        into plaintext: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard suite.fits(identity.recipient), suite.fits(sender) else { return false }
        return bytes.withUnsafeBytes { bytes in
            let header = UnsafeRawBufferPointer(rebasing: bytes[..<suite.headerByteCount])
            let sealed = UnsafeRawBufferPointer(rebasing: bytes[suite.headerByteCount...])
            switch suite {
            case .anonymous: return Suite.openBox(sealed, with: identity, into: plaintext)
            case .authenticated, .hybrid:
                guard let sender else { return false }
                let enc = UnsafeRawBufferPointer(rebasing: bytes[suite.enc])
                let number = HPKENumber(UnsafeRawBufferPointer(rebasing: bytes[suite.number]))
                let pskID = UnsafeRawBufferPointer(rebasing: bytes[suite.pskID])
                return suite.receivingContext(enc, pskID: pskID, with: identity, from: sender, info: info)
                    .open(sealed, additionalData: header, number: number, into: plaintext)
            }
        }
    }
}

extension Envelope {
    /// The maximum length: 4,096 characters of base64url can't encode more bytes.
    public static let maximumByteCount = 3_072

    /// Parses the field's text, which must be strict base64url without padding.
    public init(parsing text: String) throws(EnvelopeError) {
        guard text.utf8.count <= Base64URL.textByteCount(of: Self.maximumByteCount) else { throw .tooLong }
        guard let bytes = Base64URL.decode(text.utf8) else { throw .notBase64URL }
        try self.init(parsing: bytes)
    }

    /// Parses an envelope's bytes.
    public init(parsing bytes: [UInt8]) throws(EnvelopeError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong }
        guard let first = bytes.first else { throw .empty }
        guard let suite = Suite(rawValue: first) else { throw .unknownSuite(first) }
        let minimum = suite.overheadByteCount + 1
        guard bytes.count >= minimum else { throw .tooShort(byteCount: bytes.count, minimum: minimum) }
        self.init(suite: suite, bytes: bytes)
        guard enc.withUnsafeBytes(suite.isSafe) else { throw .unsafeEncapsulatedKey }
    }
}
