package import PushCrypto

/// The sealed bytes as they travel, taken apart as far as that goes without a key.
///
/// Parsing checks the form only: who sealed it, and whether it opens, is for ``Opener``. Source: Specification 3.
public struct Envelope: Hashable, Sendable {
    /// The clear part.
    public let header: Header
    /// The whole envelope, header included.
    public let bytes: [UInt8]

    /// The clear part, by suite.
    public enum Header: Hashable, Sendable {
        case authenticated(AuthenticatedHeader)
        case anonymous(recipientKeyID: KeyID)
    }

    /// The clear part of an authenticated envelope.
    public struct AuthenticatedHeader: Hashable, Sendable {
        /// A hint at the device's key.
        public let recipientKeyID: KeyID
        /// A hint at the sender's key.
        public let senderKeyID: KeyID
        /// The message's number within its HPKE context.
        public let sequenceNumber: UInt32
        package let enc: X25519PublicKey
    }

    /// Version and algorithms in one byte; there is no other agility.
    public enum Suite: UInt8, Sendable, CaseIterable {
        /// HPKE mode_auth: proves who sealed.
        case authenticated = 0x01
        /// libsodium's sealed box: proves nothing about who sealed.
        case anonymous = 0x02

        /// How many bytes an envelope has more than its plaintext.
        package var overheadByteCount: Int { headerByteCount + tagByteCount }

        var headerByteCount: Int {
            switch self {
            case .authenticated: 1 + 2 * KeyID.byteCount + X25519PublicKey.byteCount + 4
            case .anonymous: 1 + KeyID.byteCount
            }
        }

        private var tagByteCount: Int {
            switch self {
            case .authenticated: ChaCha20Poly1305.tagByteCount
            case .anonymous: SealedBox.overheadByteCount
            }
        }
    }

    public var suite: Suite {
        switch header {
        case .authenticated: .authenticated
        case .anonymous: .anonymous
        }
    }

    public var recipientKeyID: KeyID {
        switch header {
        case .authenticated(let header): header.recipientKeyID
        case .anonymous(let recipientKeyID): recipientKeyID
        }
    }

    /// How many bytes were sealed: content and padding. An observer learns this number and no other.
    public var plaintextByteCount: Int { bytes.count - suite.overheadByteCount }

    /// The header's bytes, which the tag covers.
    package var headerBytes: ArraySlice<UInt8> { bytes[..<suite.headerByteCount] }
    /// What follows the header: ciphertext and tag, or the sealed box.
    package var sealedBytes: ArraySlice<UInt8> { bytes[suite.headerByteCount...] }

    init(header: Header, bytes: [UInt8]) {
        self.header = header
        self.bytes = bytes
    }
}
