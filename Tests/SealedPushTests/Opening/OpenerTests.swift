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

    @Test("does not believe a store that gives keys with another ID")
    func carelessStore() {
        let store = FixedKeyStore(keys: [DeviceKey(DevicePrivateKey(), created: exchange.now)])
        #expect(refusal(exchange.opener(keys: store), exchange.seal(exchange.content())) == .unknownRecipient)
    }

    @Test("says whether the key store is locked or otherwise unavailable")
    func stores() {
        let envelope = exchange.seal(exchange.content())
        #expect(refusal(exchange.opener(keys: FixedKeyStore(error: .locked)), envelope) == .locked)
        let broken = FixedKeyStore(error: .unavailable("disk"))
        #expect(refusal(exchange.opener(keys: broken), envelope) == .keysUnavailable)
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
