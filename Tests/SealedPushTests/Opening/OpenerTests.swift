import Testing

@testable import SealedPush

/// Specification 6.1.
@Suite("An opener")
struct OpenerTests {
    private let exchange = Exchange()

    @Test("opens what a trusted sender sealed, and says who it was and under which key")
    func opens() throws {
        let content = exchange.content { $0.data = ["a": 1] }
        let envelope = try Envelope(parsing: exchange.seal(content).text)
        let opened = try exchange.opener().open(envelope, at: exchange.now)
        #expect(opened.content == content)
        #expect(opened.id == content.id)
        #expect(opened.topic == Exchange.topic)
        #expect(opened.sent == exchange.now)
        #expect(opened.sender == exchange.senderKey.sender)
        #expect(opened.recipient == exchange.identity.recipient)
        #expect(opened.keyCreated == exchange.now)
    }

    @Test("opens any sequence number, in any order and again", arguments: [0, 1, 1_023, 70_000, UInt32.max])
    func numbers(number: UInt32) {
        let envelope = exchange.seal(exchange.content(), number: number)
        #expect(refusal(exchange.opener(), envelope) == nil)
        #expect(refusal(exchange.opener(), envelope) == nil)
    }

    @Test("refuses an envelope for a key it does not have")
    func unknownRecipient() {
        let other = Exchange(senderKey: exchange.senderKey)
        #expect(refusal(exchange.opener(), other.seal(other.content())) == .unknownRecipient)
        #expect(
            refusal(exchange.opener(keys: InMemoryKeyStore([])), exchange.seal(exchange.content())) == .unknownRecipient
        )
    }

    @Test("does not believe a store that gives keys with another ID")
    func carelessStore() {
        let store = FixedKeyStore(keys: [DeviceKey(Identity(), created: exchange.now)])
        #expect(refusal(exchange.opener(keys: store), exchange.seal(exchange.content())) == .unknownRecipient)
    }

    @Test("says whether the key store is locked or otherwise unavailable")
    func stores() {
        let envelope = exchange.seal(exchange.content())
        #expect(refusal(exchange.opener(keys: FixedKeyStore(error: .locked)), envelope) == .locked)
        let broken = FixedKeyStore(error: .unavailable("disk"))
        #expect(refusal(exchange.opener(keys: broken), envelope) == .keysUnavailable)
    }

    @Test("refuses a sender that it does not trust")
    func unknownSender() {
        let envelope = exchange.seal(exchange.content())
        #expect(refusal(exchange.opener(trusting: []), envelope) == .unknownSender)
        #expect(refusal(exchange.opener(trusting: [SenderKey().sender]), envelope) == .unknownSender)
        #expect(refusal(exchange.opener(trusting: [SenderKey().sender, exchange.senderKey.sender]), envelope) == nil)
    }

    @Test("rejects a stranger who puts a trusted sender's ID into the header")
    func impostor() {
        let stranger = SenderKey()
        let envelope = Envelope.sealing(
            exchange.padded(exchange.content().json), to: exchange.identity.recipient, from: exchange.senderKey.sender,
            in: Exchange(identity: exchange.identity, senderKey: stranger).context(), sequenceNumber: 0)
        #expect(refusal(exchange.opener(), envelope) == .rejected)
    }

    @Test("rejects what was sealed for another app, whatever its content says")
    func otherApp() {
        let content = exchange.content()
        for topic in ["com.example.ap", "com.example.app2", "com.example.App", "x"] as [Topic] {
            #expect(refusal(exchange.opener(), exchange.seal(content, topic: topic)) == .rejected)
        }
    }

    @Test("refuses content whose topic is another than the app's, though a trusted sender sealed it so")
    func topic() {
        for topic in ["com.example.ap", "com.example.App", "x"] as [Topic] {
            #expect(refusal(exchange.opener(), exchange.seal(exchange.content { $0.topic = topic })) == .topic)
        }
    }

    @Test("takes the steps in the Specification's order: the first that fails decides")
    func order() throws {
        let stranger = Exchange()
        var altered = exchange.seal(exchange.content()).bytes
        altered[altered.count - 1] ^= 1
        let broken = try Envelope(parsing: altered)
        let locked = exchange.opener(keys: FixedKeyStore(error: .locked), trusting: [])
        #expect(refusal(locked, broken) == .locked)
        #expect(refusal(locked, Envelope.sealingAnonymously([1], to: exchange.identity.recipient)) == .locked)
        #expect(refusal(exchange.opener(trusting: []), stranger.seal([1])) == .unknownRecipient)
        #expect(refusal(exchange.opener(), stranger.sealAnonymously(stranger.content())) == .unknownRecipient)
        #expect(refusal(exchange.opener(trusting: []), broken) == .unknownSender)
        #expect(refusal(exchange.opener(), broken) == .rejected)
        let box = Envelope.sealingAnonymously([0], to: exchange.identity.recipient)
        #expect(refusal(exchange.opener(), box) == .anonymousNotAllowed)
        #expect(refusal(exchange.opener(allowsAnonymous: true), box) == .malformedContent)
    }

    @Test("checks the content in the Specification's order: form, topic, clock, age, expiry")
    func contentOrder() {
        let longAgo = Timestamp(secondsSince1970: 0)!
        let ahead = exchange.now.advanced(bySeconds: 1_000_000)
        let cases: [(OpenError, Content)] = [
            (.malformedContent, exchange.content { ($0.badge, $0.topic, $0.sent) = (-1, "x", ahead) }),
            (.topic, exchange.content { ($0.topic, $0.sent, $0.expires) = ("x", ahead, longAgo) }),
            (.topic, exchange.content { ($0.topic, $0.sent) = ("x", longAgo) }),
            (.clock, exchange.content { ($0.sent, $0.expires) = (ahead, longAgo) }),
            (.tooOld, exchange.content { ($0.sent, $0.expires) = (longAgo, longAgo) }),
            (.expired, exchange.content { $0.expires = longAgo }),
        ]
        for (code, content) in cases { #expect(refusal(exchange.opener(), exchange.seal(content)) == code) }
    }

    @Test("serves many tasks at once")
    func tasks() async {
        let opener = exchange.opener()
        let envelopes = (0..<20).map { exchange.seal(exchange.content(), number: $0) }
        let opened = await withTaskGroup(of: Bool.self) { group in
            for envelope in envelopes { group.addTask { refusal(opener, envelope) == nil } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(opened == 20)
    }

    @Test("names its refusals by stable codes")
    func codes() {
        #expect(
            OpenError.allCases.map(\.description) == [
                "malformed", "unknown-recipient", "locked", "keys-unavailable", "unknown-sender",
                "anonymous-not-allowed",
                "rejected", "malformed-content", "topic", "key-retired", "clock", "too-old", "expired", "replayed",
                "ledger-unavailable",
                "out-of-time",
            ])
    }
}
