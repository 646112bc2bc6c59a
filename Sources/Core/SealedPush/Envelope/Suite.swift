internal import PushCore

extension Envelope {
    /// An envelope's algorithms, identified by its first byte. There is no other algorithm agility. Defines the header's
    /// layout, the types of keys, and how to seal and open. Other code asks the suite rather than defining lengths or
    /// offsets. A class, since each envelope has one and copies should be free. Source: Specification 3.
    package final class Suite: Sendable {
        /// The first byte.
        package let identifier: UInt8
        package let name: StaticString
        package let recipientKeys: KeyAlgorithm
        /// The algorithm of the senders' keys; nil if the suite doesn't prove who sealed an envelope.
        let senderKeys: KeyAlgorithm?
        let encByteCount: Int
        /// The number of bytes by which the sealed part is longer than the plaintext.
        let tagByteCount: Int
        /// The length of the pre-shared key's ID in the header, in bytes.
        let pskIDByteCount: Int
        /// The sizes of padded plaintexts. Source: Specification 4.2.
        package let bucketByteCounts: [Int]
        let method: Method

        init(
            identifier: UInt8, name: StaticString, recipientKeys: KeyAlgorithm, senderKeys: KeyAlgorithm?,
            encByteCount: Int, tagByteCount: Int, pskIDByteCount: Int = 0,
            bucketByteCounts: [Int] = [256, 512, 1_024, 2_048], method: Method
        ) {
            self.identifier = identifier
            self.name = name
            self.recipientKeys = recipientKeys
            self.senderKeys = senderKeys
            self.encByteCount = encByteCount
            self.tagByteCount = tagByteCount
            self.pskIDByteCount = pskIDByteCount
            self.bucketByteCounts = bucketByteCounts
            self.method = method
        }

        enum Method: Sendable {
            /// Proves who sealed an envelope, with HPKE. Both ends derive a context, which seals many messages by
            /// number. `isSafe` tells whether bytes of the right length are a safe encapsulated key.
            case authenticated(
                isSafe: @Sendable (UnsafeRawBufferPointer) -> Bool,
                sending: @Sendable (DevicePublicKey, SenderPrivateKey, EnvelopeInfo) -> HPKEContext,
                receiving:
                    @Sendable (
                        _ enc: UnsafeRawBufferPointer, _ pskID: UnsafeRawBufferPointer, DevicePrivateKey,
                        SenderPublicKey, EnvelopeInfo
                    ) -> HPKEContext)
            /// Doesn't prove who sealed an envelope. `open` returns false if the message doesn't open.
            case anonymous(
                seal: @Sendable (UnsafeRawBufferPointer, DevicePublicKey, UnsafeMutableRawBufferPointer) -> Void,
                open: @Sendable (UnsafeRawBufferPointer, DevicePrivateKey, UnsafeMutableRawBufferPointer) -> Bool)
        }

        // Specification 3.1: suite · recipient hint, and if authenticated: sender hint · enc · number · psk_id.
        static let recipientHint = 1..<1 + KeyHint.byteCount
        static let senderHint = recipientHint.upperBound..<recipientHint.upperBound + KeyHint.byteCount
        // Without a sender, `enc` is the start of the sealed box.
        var enc: Range<Int> {
            let start = isAuthenticated ? Self.senderHint.upperBound : Self.recipientHint.upperBound
            return start..<start + encByteCount
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
    /// HPKE mode_auth: proves who sealed an envelope. Source: Specification 3.4.
    package static let authenticated = Envelope.Suite(
        identifier: 0x01, name: "authenticated", recipientKeys: .x25519, senderKeys: .x25519Seed,
        encByteCount: X25519PublicKey.byteCount, tagByteCount: ChaCha20Poly1305.tagByteCount,
        method: .authenticated(
            isSafe: KeyAlgorithm.x25519.isSafe,
            sending: { HPKEContext(sendingTo: $0.x25519, from: $1.x25519, info: $2.classical) },
            receiving: { enc, _, identity, sender, info in
                HPKEContext(
                    receiving: X25519PublicKey(checked: enc), with: identity.x25519, from: sender.x25519,
                    info: info.classical)
            }))

    /// HPKE mode_auth_psk: like ``authenticated``, but content stays secret if either X25519 or ML-KEM-768 is secure.
    /// Source: Specification 3.8.
    package static let hybrid = Envelope.Suite(
        identifier: 0x03, name: "hybrid", recipientKeys: .hybrid, senderKeys: .x25519Seed,
        encByteCount: X25519PublicKey.byteCount, tagByteCount: ChaCha20Poly1305.tagByteCount,
        pskIDByteCount: MLKEM768.ciphertextByteCount, bucketByteCounts: [256, 512, 1_024, 1_792],
        method: .authenticated(
            isSafe: KeyAlgorithm.x25519.isSafe,
            sending: { recipient, sender, info in
                let made = MLKEM768.encapsulate(to: recipient.bytes[..<MLKEM768.publicKeyByteCount])
                return made.sharedSecret.withBytes {
                    HPKEContext(
                        sendingTo: recipient.x25519, from: sender.x25519, info: info.hybrid(made.ciphertext), psk: $0)
                }
            },
            receiving: { enc, ciphertext, identity, sender, info in
                let seed = WipedBytes(count: MLKEM768.seedByteCount) { seed in
                    identity.withBytes { Seed.expand($0, Seed.mlkemLabel, into: seed) }
                }
                let secret = seed.withBytes { MLKEM768.decapsulate(ciphertext, with: $0) }
                return secret.withBytes {
                    HPKEContext(
                        receiving: X25519PublicKey(checked: enc), with: identity.x25519, from: sender.x25519,
                        info: info.hybrid(Array(ciphertext)), psk: $0)
                }
            }))

    /// libsodium's sealed box: doesn't prove who sealed it. Source: Specification 3.6.
    package static let anonymous = Envelope.Suite(
        identifier: 0x02, name: "anonymous", recipientKeys: .x25519, senderKeys: nil,
        encByteCount: X25519PublicKey.byteCount, tagByteCount: SealedBox.overheadByteCount,
        method: .anonymous(
            seal: { SealedBox.seal($0, to: $1.x25519, into: $2) },
            open: { SealedBox.open($0, with: $1.x25519, into: $2) }))

    /// All known suites, the one for new keys first. Overridden only in tests, which saves a parameter in every signature.
    @TaskLocal package static var known: [Envelope.Suite] = [.authenticated, .anonymous, .hybrid]

    /// Returns the suite for a recipient and a sender, or nil if there is none, as for a hybrid key without a sender.
    package static func sealing(to recipient: DevicePublicKey, from sender: SenderPublicKey?) -> Envelope.Suite? {
        known.first { $0.fits(recipient) && $0.fits(sender) }
    }

    /// Returns all suites with a sender, or all without one if it's nil; X25519 comes first.
    package static func all(from sender: SenderPublicKey?) -> [Envelope.Suite] { known.filter { $0.fits(sender) } }

    /// All suites that prove who sealed an envelope.
    package static var provingSender: [Envelope.Suite] { known.filter(\.isAuthenticated) }
}

extension Envelope.Suite: Hashable {
    package static func == (one: Envelope.Suite, other: Envelope.Suite) -> Bool { one.identifier == other.identifier }
    package func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}

extension Envelope.Suite {
    package func fits(_ recipient: DevicePublicKey) -> Bool { recipient.algorithm == recipientKeys }
    func fits(_ sender: SenderPublicKey?) -> Bool { sender?.algorithm == senderKeys }
}
