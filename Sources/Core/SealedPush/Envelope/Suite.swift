internal import PushCore

extension Envelope {
    /// The algorithms of an envelope, for which its first byte stands; there is no other agility.
    ///
    /// Holds the layout of the header, the kinds of keys, and how to seal and open. Other code asks the suite, and knows no
    /// length or offset of its own. A class, as each envelope has one: copies are free. Source: Specification 3.
    package final class Suite: Sendable {
        /// The first byte.
        package let identifier: UInt8
        package let name: StaticString
        /// What the keys of its devices are.
        package let recipientKeys: KeyAlgorithm
        /// What the keys of its senders are; nil where it proves nothing about who sealed.
        let senderKeys: KeyAlgorithm?
        /// The length of the encapsulated key, in bytes.
        let encByteCount: Int
        /// What the sealed part has more than the plaintext.
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
            /// Proves who sealed, by HPKE: how both ends come to a context, under whose numbers many messages are sealed.
            /// `isSafe` says whether this many bytes may be taken for an encapsulated key.
            case authenticated(
                isSafe: @Sendable (UnsafeRawBufferPointer) -> Bool,
                sending: @Sendable (DevicePublicKey, SenderPrivateKey, EnvelopeInfo) -> HPKEContext,
                receiving:
                    @Sendable (
                        _ enc: UnsafeRawBufferPointer, _ pskID: UnsafeRawBufferPointer, DevicePrivateKey,
                        SenderPublicKey, EnvelopeInfo
                    ) -> HPKEContext)
            /// Proves nothing about who sealed. `open` is false where it does not open.
            case anonymous(
                seal: @Sendable (UnsafeRawBufferPointer, DevicePublicKey, UnsafeMutableRawBufferPointer) -> Void,
                open: @Sendable (UnsafeRawBufferPointer, DevicePrivateKey, UnsafeMutableRawBufferPointer) -> Bool)
        }

        // Specification 3.1: suite · recipient hint, and if it proves who sealed: sender hint · enc · number · psk_id.
        static let recipientHint = 1..<1 + KeyHint.byteCount
        static let senderHint = recipientHint.upperBound..<recipientHint.upperBound + KeyHint.byteCount
        // Without a sender, `enc` is how the sealed box begins.
        var enc: Range<Int> {
            let start = isAuthenticated ? Self.senderHint.upperBound : Self.recipientHint.upperBound
            return start..<start + encByteCount
        }
        var number: Range<Int> { enc.upperBound..<enc.upperBound + HPKENumber.byteCount }
        var pskID: Range<Int> { number.upperBound..<number.upperBound + pskIDByteCount }
        var headerByteCount: Int { isAuthenticated ? pskID.upperBound : Self.recipientHint.upperBound }

        /// Whether it proves who sealed.
        package var isAuthenticated: Bool { senderKeys != nil }

        /// How many bytes an envelope has more than its plaintext.
        package var overheadByteCount: Int { headerByteCount + tagByteCount }
    }
}

extension Envelope.Suite {
    /// HPKE mode_auth: proves who sealed. Source: Specification 3.4.
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

    /// HPKE mode_auth_psk: as ``authenticated``, and the content is secret as long as X25519 or ML-KEM-768 holds.
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

    /// libsodium's sealed box: proves nothing about who sealed. Source: Specification 3.6.
    package static let anonymous = Envelope.Suite(
        identifier: 0x02, name: "anonymous", recipientKeys: .x25519, senderKeys: nil,
        encByteCount: X25519PublicKey.byteCount, tagByteCount: SealedBox.overheadByteCount,
        method: .anonymous(
            seal: { SealedBox.seal($0, to: $1.x25519, into: $2) },
            open: { SealedBox.open($0, with: $1.x25519, into: $2) }))

    /// All that are known, that of new keys first. Bound to others by tests alone, so that nothing on a message's way has a
    /// parameter for them.
    @TaskLocal package static var known: [Envelope.Suite] = [.authenticated, .anonymous, .hybrid]

    /// The one that seals to a recipient, from a sender or from nobody; nil if there is none, as for nobody and a hybrid key.
    package static func sealing(to recipient: DevicePublicKey, from sender: SenderPublicKey?) -> Envelope.Suite? {
        known.first { $0.fits(recipient) && $0.fits(sender) }
    }

    /// All that seal for a sender, or for nobody, that of X25519 keys first.
    package static func all(from sender: SenderPublicKey?) -> [Envelope.Suite] { known.filter { $0.fits(sender) } }

    /// All that prove who sealed.
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
