import FuzzSupport
import PushSender

@testable import SealedPush

/// Who takes part: the published test keys, and those of the test vectors.
enum Parties {
    static let topic: Topic = "com.example.app"
    static let now = Timestamp(clamping: 1_760_000_003)

    static let sealer = Sealer(
        sender: senderKey, topic: topic, safeDefault: "You have a new message!", contexts: .perMessage)
    static let anonymousSealer = Sealer(
        anonymousFor: topic, safeDefault: "You have a new message!", padding: .none, fit: .truncate)

    static let recipient = identities[0].recipient
    static let recipientBytes = Bech32Rule.bytes(ofKey: recipient.description)
    static let recipientKeyIDs = identities.map { Hexadecimal.bytes($0.recipient.keyID.description) }
    static let senderKeyIDs = senders.map { Hexadecimal.bytes($0.keyID.description) }

    static let opener = Opener(
        topic: topic,
        keys: InMemoryKeyStore(
            identities.enumerated().map { index, identity in
                var life = KeyLife(created: Timestamp(clamping: Int64(index)))
                if index % 2 == 1 { life.retire(at: now) }
                return DeviceKey(identity, life: life)
            }), trusting: senders, allowsAnonymous: true)

    /// The envelopes of the test vectors, which another program sealed.
    static let knownEnvelopes = Set(
        NamedLines.all(in: "Vectors").compactMap { $0["field"].flatMap(Base64URLRule.decodeLoosely) })

    private static let senderKey = required {
        try SenderPrivateKey(parsing: NamedLines(published: "test-newsroom").required("secret"))
    }
    /// Two of these share a key ID, and so do two of the senders.
    private static let sharing = NamedLines("Vectors/good-identities-and-senders-sharing-key-id.txt")
    private static let usual = NamedLines("Vectors/good-all-keys.txt")

    private static let identities =
        ([NamedLines(published: "test-phone").required("secret")]
        + [sharing.required("identity"), sharing.required("identity2"), usual.required("identity")])
        .map { text in required { try DevicePrivateKey(parsing: text) } }
    private static let senders =
        [senderKey.sender]
        + [sharing.required("sender"), sharing.required("sender2"), usual.required("sender")]
        .map { text in required { try SenderPublicKey(parsing: text) } }
}
