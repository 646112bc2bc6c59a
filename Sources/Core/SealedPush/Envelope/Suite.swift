internal import PushCore

extension Envelope {
    /// The algorithms of an envelope, for which its first byte stands; there is no other agility.
    ///
    /// A value: the layout of the header, the kinds of key it takes, and how it seals and opens. Whatever else handles
    /// envelopes asks the suite, and knows no length or offset of its own. Source: Specification 3.
    package struct Suite: Sendable {
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
        let method: Method

        enum Method: Sendable {
            /// Proves who sealed, by HPKE: how both ends come to a context, under whose numbers many messages are sealed.
            /// `isSafe` says whether this many bytes may be taken for an encapsulated key.
            case authenticated(
                isSafe: @Sendable (UnsafeRawBufferPointer) -> Bool,
                sending: @Sendable (DevicePublicKey, SenderPrivateKey, HPKEInfo) -> HPKEContext,
                receiving:
                    @Sendable (UnsafeRawBufferPointer, DevicePrivateKey, SenderPublicKey, HPKEInfo) -> HPKEContext)
            /// Proves nothing about who sealed. `open` is false where it does not open.
            case anonymous(
                seal: @Sendable (UnsafeRawBufferPointer, DevicePublicKey, UnsafeMutableRawBufferPointer) -> Void,
                open: @Sendable (UnsafeRawBufferPointer, DevicePrivateKey, UnsafeMutableRawBufferPointer) -> Bool)
        }

        // Specification 3.1: suite · recipient hint, and if it proves who sealed: sender hint · enc · number.
        static let recipientHint = 1..<1 + KeyHint.byteCount
        static let senderHint = recipientHint.upperBound..<recipientHint.upperBound + KeyHint.byteCount
        // Without a sender, `enc` is how the sealed box begins.
        var enc: Range<Int> {
            let start = isAuthenticated ? Self.senderHint.upperBound : Self.recipientHint.upperBound
            return start..<start + encByteCount
        }
        var number: Range<Int> { enc.upperBound..<enc.upperBound + HPKENumber.byteCount }
        var headerByteCount: Int { isAuthenticated ? number.upperBound : Self.recipientHint.upperBound }

        /// Whether it proves who sealed.
        // A pattern, as `==` would copy both sides first.
        package var isAuthenticated: Bool { if case nil = senderKeys { false } else { true } }

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
            sending: { HPKEContext(sendingTo: $0.x25519, from: $1.x25519, info: $2) },
            receiving: {
                HPKEContext(receiving: X25519PublicKey(checked: $0), with: $1.x25519, from: $2.x25519, info: $3)
            }))

    /// libsodium's sealed box: proves nothing about who sealed. Source: Specification 3.6.
    package static let anonymous = Envelope.Suite(
        identifier: 0x02, name: "anonymous", recipientKeys: .x25519, senderKeys: nil,
        encByteCount: X25519PublicKey.byteCount, tagByteCount: SealedBox.overheadByteCount,
        method: .anonymous(
            seal: { SealedBox.seal($0, to: $1.x25519, into: $2) },
            open: { SealedBox.open($0, with: $1.x25519, into: $2) }))

    /// All that are known, the preferred first. Bound to others by tests alone, so that nothing on a message's way has a
    /// parameter for them.
    @TaskLocal package static var known: [Envelope.Suite] = [.authenticated, .anonymous]

    /// The one that seals to a recipient, from a sender or from nobody.
    package static func sealing(to recipient: DevicePublicKey, from sender: SenderPublicKey?) -> Envelope.Suite {
        guard let suite = known.first(where: { $0.fits(recipient) && $0.fits(sender) }) else {
            preconditionFailure("there is no suite for these two kinds of key")
        }
        return suite
    }

    /// What an envelope has more than its plaintext, at most, whichever suite seals for a sender or for nobody.
    package static func maximumOverhead(from sender: SenderPublicKey?) -> Int {
        known.lazy.filter { $0.fits(sender) }.map(\.overheadByteCount).max() ?? 0
    }

    /// All that prove who sealed.
    package static var provingSender: [Envelope.Suite] { known.filter(\.isAuthenticated) }
}

extension Envelope.Suite: Hashable {
    package static func == (one: Envelope.Suite, other: Envelope.Suite) -> Bool { one.identifier == other.identifier }
    package func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}

extension Envelope.Suite {
    func fits(_ recipient: DevicePublicKey) -> Bool { recipient.algorithm == recipientKeys }
    func fits(_ sender: SenderPublicKey?) -> Bool { sender?.algorithm == senderKeys }
}
