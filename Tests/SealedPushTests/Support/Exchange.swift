@testable import PushCore
@testable import SealedPush

/// One device, one sender it trusts, one app; and what is needed to seal from one to the other.
struct Exchange: Sendable {
    static let topic: Topic = "com.example.app"
    static let now = Timestamp(secondsSince1970: 1_760_000_000)!

    var identity = DevicePrivateKey()
    var senderKey = SenderPrivateKey()
    var now = Exchange.now

    /// An opener; where `keys` is nil, with the one identity.
    func opener(
        keys: (any KeyStore)? = nil, trusting senders: [SenderPublicKey]? = nil, allowsAnonymous: Bool = false
    ) -> Opener {
        Opener(
            topic: Self.topic, keys: keys ?? InMemoryKeyStore([DeviceKey(identity, created: now)]),
            trusting: senders ?? [senderKey.sender], allowsAnonymous: allowsAnonymous)
    }

    /// Content that opens, with changes.
    func content(_ change: (inout Content) -> Void = { _ in }) -> Content {
        var content = Content(title: "Hello", body: "A message")
        content.id = .random()
        content.topic = Self.topic
        content.sent = now
        change(&content)
        return content
    }

    func context(topic: Topic = Exchange.topic) -> HPKEContext {
        HPKEContext(
            sendingTo: identity.recipient.x25519, from: senderKey.x25519,
            info: HPKEInfo(Envelope.info(topic: topic)))
    }

    func seal(_ plaintext: [UInt8], topic: Topic = Exchange.topic, number: UInt32 = 0) -> Envelope {
        let context = context(topic: topic)
        return Envelope.sealing(
            plaintext, to: identity.recipient, from: senderKey.sender, in: context, sequenceNumber: number)
    }

    func seal(_ content: Content, topic: Topic = Exchange.topic, number: UInt32 = 0) -> Envelope {
        seal(padded(content.json), topic: topic, number: number)
    }

    func sealAnonymously(_ content: Content) -> Envelope {
        Envelope.sealingAnonymously(padded(content.json), to: identity.recipient)
    }

    /// The content and its padding, up to the next 256 bytes.
    func padded(_ content: [UInt8]) -> [UInt8] {
        let count = content.count + 1
        return content + [0x80] + [UInt8](repeating: 0, count: (256 - count % 256) % 256)
    }
}

/// The code with which `envelope` is refused; nil where it opens.
func refusal(_ opener: Opener, _ envelope: Envelope, at now: Timestamp = Exchange.now) -> OpenError? {
    do throws(OpenError) {
        _ = try opener.open(envelope, at: now)
        return nil
    } catch {
        return error
    }
}

/// A store with one fixed answer.
struct FixedKeyStore: KeyStore {
    var keys: [DeviceKey] = []
    var error: KeyStoreError?

    func keys(for id: KeyID) throws(KeyStoreError) -> [DeviceKey] {
        if let error { throw error }
        return keys
    }
}
