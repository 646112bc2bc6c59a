internal import PushCore

extension Envelope {
    /// An envelope's algorithms, identified by its first byte. There is no other algorithm agility. Defines the header's
    /// layout, the types of keys, and how to seal and open. Other code asks the suite rather than defining lengths or
    /// offsets. A byte that isn't a case here is refused when an envelope is parsed. X25519 comes first, as for new keys.
    /// Source: Specification 3.
    package enum Suite: UInt8, CaseIterable, Sendable {
        /// HPKE mode_auth: proves who sealed an envelope. Source: Specification 3.4.
        case authenticated = 0x01
        /// libsodium's sealed box: doesn't prove who sealed it. Source: Specification 3.6.
        case anonymous = 0x02
        /// HPKE mode_auth_psk: like ``authenticated``, but content stays secret if either X25519 or ML-KEM-768 is secure.
        /// Source: Specification 3.8.
        case hybrid = 0x03

        package var name: StaticString {
            switch self {
            case .authenticated: "authenticated"
            case .anonymous: "anonymous"
            case .hybrid: "hybrid"
            }
        }

        package var recipientKeys: KeyAlgorithm {
            switch self {
            case .authenticated, .anonymous: .x25519
            case .hybrid: .hybrid
            }
        }

        /// The algorithm of the senders' keys; nil if the suite doesn't prove who sealed an envelope.
        var senderKeys: KeyAlgorithm? {
            switch self {
            case .authenticated, .hybrid: .x25519Seed
            case .anonymous: nil
            }
        }

        /// The number of bytes by which the sealed part is longer than the plaintext.
        private var tagByteCount: Int {
            switch self {
            case .authenticated, .hybrid: ChaCha20Poly1305.tagByteCount
            case .anonymous: SealedBox.overheadByteCount
            }
        }

        /// The length of the pre-shared key's ID in the header, in bytes.
        private var pskIDByteCount: Int {
            switch self {
            case .authenticated, .anonymous: 0
            case .hybrid: MLKEM768.ciphertextByteCount
            }
        }

        /// The sizes of padded plaintexts. Source: Specification 4.2.
        package var bucketByteCounts: [Int] {
            switch self {
            case .authenticated, .anonymous: [256, 512, 1_024, 2_048]
            case .hybrid: [256, 512, 1_024, 1_792]
            }
        }

        // Specification 3.1: suite · recipient hint, and if authenticated: sender hint · enc · number · psk_id.
        static let recipientHint = 1..<1 + KeyHint.byteCount
        static let senderHint = recipientHint.upperBound..<recipientHint.upperBound + KeyHint.byteCount
        // Without a sender, `enc` is the start of the sealed box.
        var enc: Range<Int> {
            let start = isAuthenticated ? Self.senderHint.upperBound : Self.recipientHint.upperBound
            return start..<start + X25519PublicKey.byteCount
        }
        var number: Range<Int> { enc.upperBound..<enc.upperBound + HPKENumber.byteCount }
        var pskID: Range<Int> { number.upperBound..<number.upperBound + pskIDByteCount }
        var headerByteCount: Int { isAuthenticated ? pskID.upperBound : Self.recipientHint.upperBound }

        /// Whether the suite proves who sealed an envelope.
        package var isAuthenticated: Bool { senderKeys != nil }

        /// The number of bytes by which an envelope is longer than its plaintext.
        package var overheadByteCount: Int { headerByteCount + tagByteCount }
    }
}

extension Envelope.Suite {
    /// Returns the suite for a recipient and a sender, or nil if there is none, as for a hybrid key without a sender.
    package static func sealing(to recipient: DevicePublicKey, from sender: SenderPublicKey?) -> Envelope.Suite? {
        allCases.first { $0.fits(recipient) && $0.fits(sender) }
    }

    /// Returns all suites with a sender, or all without one if it's nil; X25519 comes first.
    package static func all(from sender: SenderPublicKey?) -> [Envelope.Suite] { allCases.filter { $0.fits(sender) } }

    /// All suites that prove who sealed an envelope.
    package static var provingSender: [Envelope.Suite] { allCases.filter(\.isAuthenticated) }

    package func fits(_ recipient: DevicePublicKey) -> Bool { recipient.algorithm == recipientKeys }
    func fits(_ sender: SenderPublicKey?) -> Bool { sender?.algorithm == senderKeys }
}

extension Envelope.Suite {
    /// Whether bytes of the right length are an encapsulated key that is safe to use. A sealed box checks its own.
    func isSafe(_ enc: UnsafeRawBufferPointer) -> Bool { !isAuthenticated || KeyAlgorithm.x25519.isSafe(enc) }

    /// Returns a new context from a sender, with a fresh ephemeral key. Both ends derive it; it seals many messages by number.
    func sendingContext(
        to recipient: DevicePublicKey, from sender: SenderPrivateKey, info: EnvelopeInfo
    ) -> HPKEContext {
        switch self {
        case .authenticated:
            return HPKEContext(sendingTo: recipient.x25519, from: sender.x25519, info: info.classical)
        case .hybrid:
            let made = MLKEM768.encapsulate(to: recipient.bytes[..<MLKEM768.publicKeyByteCount])
            return made.sharedSecret.withBytes {
                HPKEContext(
                    sendingTo: recipient.x25519, from: sender.x25519, info: info.hybrid(made.ciphertext), psk: $0)
            }
        case .anonymous: preconditionFailure("a sealed box has no context")
        }
    }

    /// Returns the recipient's context from the parts of an envelope's header.
    func receivingContext(
        _ enc: UnsafeRawBufferPointer, pskID: UnsafeRawBufferPointer, with identity: DevicePrivateKey,
        from sender: SenderPublicKey, info: EnvelopeInfo
    ) -> HPKEContext {
        switch self {
        case .authenticated:
            return HPKEContext(
                receiving: X25519PublicKey(checked: enc), with: identity.x25519, from: sender.x25519,
                info: info.classical)
        case .hybrid:
            let secret = identity.withMLKEMSeed { MLKEM768.decapsulate(pskID, with: $0) }
            return secret.withBytes {
                HPKEContext(
                    receiving: X25519PublicKey(checked: enc), with: identity.x25519, from: sender.x25519,
                    info: info.hybrid(Array(pskID)), psk: $0)
            }
        case .anonymous: preconditionFailure("a sealed box has no context")
        }
    }

    /// Seals without proving who sealed it.
    static func sealBox(
        _ plaintext: UnsafeRawBufferPointer, to recipient: DevicePublicKey, into sealed: UnsafeMutableRawBufferPointer
    ) {
        SealedBox.seal(plaintext, to: recipient.x25519, into: sealed)
    }

    /// Returns false if the box doesn't open.
    static func openBox(
        _ sealed: UnsafeRawBufferPointer, with identity: DevicePrivateKey,
        into plaintext: UnsafeMutableRawBufferPointer
    ) -> Bool {
        SealedBox.open(sealed, with: identity.x25519, into: plaintext)
    }
}
