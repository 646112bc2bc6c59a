import FuzzSupport
import PushSender

@testable import SealedPush

/// The parties: the published test keys, and those of the test vectors.
enum Parties {
    static let topic: Topic = "com.example.app"
    static let now = Timestamp(clamping: 1_760_000_003)

    static let sealer = Sealer(
        sender: senderKey, topic: topic, safeDefault: "You have a new message!",
        contexts: ContextLimits(messageCount: 1))
    static let anonymousSealer = Sealer(
        anonymousFor: topic, safeDefault: "You have a new message!", padding: .none, fit: .truncate)

    static let recipient = identities[0].recipient
    static let hybridRecipient = identities[4].recipient
    static let recipientBytes = Bech32Rule.bytes(ofKey: recipient.description)

    /// Returns the suite of one of the identities, and both hints for it and one of the senders.
    static func suiteAndHints(_ key: Int, enc: ArraySlice<UInt8>) -> [UInt8] {
        let (recipient, sender) = (identities[key % identities.count].recipient, senders[key % senders.count])
        let suite: Envelope.Suite = recipient.isHybrid ? .hybrid : .authenticated
        return [suite.rawValue] + suite.hint(enc: enc, recipient: recipient).bytes
            + suite.hint(enc: enc, recipient: recipient, sender: sender).bytes
    }

    static func anonymousHint(_ key: Int, enc: ArraySlice<UInt8>) -> [UInt8] {
        Envelope.Suite.anonymous.hint(enc: enc, recipient: identities[key % identities.count].recipient).bytes
    }

    static let opener = Opener(
        topic: topic,
        keys: InMemoryKeyStore(
            identities.enumerated().map { index, identity in
                var life = KeyLife(created: Timestamp(clamping: Int64(index)))
                if index % 2 == 1 { life.retire(at: now) }
                return DeviceKey(identity, life: life)
            }), trusting: senders, allowsAnonymous: true)

    /// The test vectors' envelopes, which another program sealed.
    static let knownEnvelopes = Set(vectors.compactMap { $0["field"].flatMap(Base64URLRule.decodeLoosely) })
    private static let vectors = NamedLines.all(in: "Vectors") + NamedLines.all(in: "Vectors/Hybrid")

    private static let senderKey = required {
        try SenderPrivateKey(parsing: NamedLines(published: "test-newsroom").required("secret"))
    }
    /// In one of the vectors, two of these share a hint, and so do two of the senders.
    private static let sharing = NamedLines("Vectors/good-identities-and-senders-sharing-hint.txt")
    private static let usual = NamedLines("Vectors/good-all-keys.txt")

    private static let identities =
        ([NamedLines(published: "test-phone").required("secret")]
        + [sharing.required("identity"), sharing.required("identity2"), usual.required("identity")]
        + [NamedLines("Vectors/Hybrid/good-plain.txt").required("identity")])
        .map { text in required { try DevicePrivateKey(parsing: text) } }
    private static let senders =
        [senderKey.sender]
        + [sharing.required("sender"), sharing.required("sender2"), usual.required("sender")]
        .map { text in required { try SenderPublicKey(parsing: text) } }
}
