package import PushCore

/// The sealed bytes as they travel, taken apart as far as that goes without a key.
///
/// Parsing checks the form only: who sealed it, and whether it opens, is for ``Opener``. Source: Specification 3.
public struct Envelope: Sendable {
    /// The payload's key that holds one, beside `aps`.
    public static let fieldName = "custom-encrypted-message"

    package let suite: Suite
    /// The whole envelope, header included.
    public let bytes: [UInt8]

    /// A hint at the device's key.
    public var recipientKeyID: KeyID { KeyID(bytes[Suite.recipientKeyID]) }
    /// A hint at the sender's key; nil where the suite proves nothing about who sealed.
    public var senderKeyID: KeyID? { suite.senderKeys.map { _ in KeyID(bytes[Suite.senderKeyID]) } }
    /// The message's number within its HPKE context; nil likewise.
    public var sequenceNumber: UInt32? {
        suite.senderKeys.map { _ in bytes[suite.sequenceNumber].reduce(0) { $0 << 8 | UInt32($1) } }
    }
    /// What the sender has sent of the context; nothing likewise.
    package var enc: ArraySlice<UInt8> { suite.senderKeys == nil ? [] : bytes[suite.enc] }

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

// MARK: - Sealing and opening

extension Envelope {
    /// Seals padded plaintext under one number of a context. **The caller never uses a number twice.**
    package static func sealing(
        _ plaintext: [UInt8], to recipient: DevicePublicKey, from sender: SenderPublicKey,
        in context: borrowing HPKEContext,
        sequenceNumber: UInt32, suite: Suite = .authenticated
    ) -> Envelope {
        var bytes = [UInt8](repeating: 0, count: plaintext.count + suite.overheadByteCount)
        bytes.withUnsafeMutableBytes { bytes in
            bytes[0] = suite.identifier
            recipient.keyID.write(into: bytes, at: Suite.recipientKeyID)
            sender.keyID.write(into: bytes, at: Suite.senderKeyID)
            UnsafeMutableRawBufferPointer(rebasing: bytes[suite.enc]).copyBytes(from: context.enc)
            bytes.storeBytes(
                of: sequenceNumber.bigEndian, toByteOffset: suite.sequenceNumber.lowerBound, as: UInt32.self)
            let header = UnsafeRawBufferPointer(rebasing: bytes[..<suite.headerByteCount])
            let sealed = UnsafeMutableRawBufferPointer(rebasing: bytes[suite.headerByteCount...])
            plaintext.withUnsafeBytes {
                context.seal($0, additionalData: header, sequenceNumber: sequenceNumber, into: sealed)
            }
        }
        return Envelope(suite: suite, bytes: bytes)
    }

    /// Seals padded plaintext in a way that proves nothing about its sender.
    package static func sealingAnonymously(_ plaintext: [UInt8], to recipient: DevicePublicKey) -> Envelope {
        let suite = Suite.sealing(to: recipient, from: nil)
        guard case .anonymous(let seal, _) = suite.method else { preconditionFailure("this suite names its sender") }
        var bytes = [UInt8](repeating: 0, count: plaintext.count + suite.overheadByteCount)
        bytes.withUnsafeMutableBytes { bytes in
            bytes[0] = suite.identifier
            recipient.keyID.write(into: bytes, at: Suite.recipientKeyID)
            let sealed = UnsafeMutableRawBufferPointer(rebasing: bytes[suite.headerByteCount...])
            plaintext.withUnsafeBytes { seal($0, recipient, sealed) }
        }
        return Envelope(suite: suite, bytes: bytes)
    }

    /// Writes the plaintext into `plaintext`, which has ``plaintextByteCount`` bytes; false where it does not open under these
    /// keys.
    ///
    /// - Parameter sender: whose message it must be; nil where the suite proves nothing about that.
    func open(
        with identity: DevicePrivateKey, from sender: SenderPublicKey?, info: HPKEInfo,
        into plaintext: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard suite.fits(identity.recipient), suite.fits(sender) else { return false }
        return bytes.withUnsafeBytes { bytes in
            let header = UnsafeRawBufferPointer(rebasing: bytes[..<suite.headerByteCount])
            let sealed = UnsafeRawBufferPointer(rebasing: bytes[suite.headerByteCount...])
            switch suite.method {
            case .anonymous(_, let open): return open(sealed, identity, plaintext)
            case .authenticated(_, _, let receiving):
                guard let sender, let sequenceNumber else { return false }
                let enc = UnsafeRawBufferPointer(rebasing: bytes[suite.enc])
                return receiving(enc, identity, sender, info).open(
                    sealed, additionalData: header, sequenceNumber: sequenceNumber, into: plaintext)
            }
        }
    }
}
