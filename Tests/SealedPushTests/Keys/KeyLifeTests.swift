import SealedPush
import TestSupport
import Testing

@Suite("The life of a key") struct KeyLifeTests {
    private let made = Exchange.now

    private func moment(_ seconds: Int64) -> Timestamp { made.advanced(bySeconds: seconds) }

    @Test("A key's life keeps the first time of each state") func moments() {
        var life = KeyLife(created: made)
        life.confirm(at: moment(1))
        life.confirm(at: moment(2))
        life.retire(at: moment(3))
        life.retire(at: moment(4))
        #expect(life.state == .retired && life.opens)
        #expect(life.confirmed == moment(1))
        #expect(life.retired == moment(3))
        #expect(life.opensUntil == moment(3 + 7_200))
        #expect(life.erasureDue() == moment(3 + 31 * 86_400))
        life.revoke(at: moment(5))
        life.revoke(at: moment(6))
        #expect(life.revoked == moment(5))
        #expect(life.erasureDue() == nil && life.opensUntil == nil && !life.opens)
        life.erase(at: moment(7))
        life.erase(at: moment(8))
        #expect(life.erased == moment(7))
        #expect(life.state == .erased)
    }

    @Test("A retired key opens only what was sent within its two hours; a revoked or erased one opens nothing")
    func opening() throws {
        let exchange = Exchange()
        func outcome(_ life: KeyLife, sent: Timestamp) -> OpenError? {
            var content = exchange.content()
            content.sent = sent
            let store = FixedKeyStore(keys: [DeviceKey(exchange.identity, life: life)])
            return refusal(exchange.opener(keys: store), exchange.seal(content))
        }
        let retiredAt = Exchange.now.advanced(bySeconds: -86_400)
        var life = KeyLife(created: Exchange.now.advanced(bySeconds: -9 * 86_400))
        #expect(outcome(life, sent: Exchange.now) == nil)
        life.retire(at: retiredAt)
        #expect(outcome(life, sent: retiredAt.advanced(bySeconds: -1)) == nil)
        #expect(outcome(life, sent: retiredAt.advanced(bySeconds: 7_200)) == nil)
        #expect(outcome(life, sent: retiredAt.advanced(bySeconds: 7_201)) == .keyRetired)
        #expect(outcome(life, sent: Exchange.now) == .keyRetired)
        life.revoke(at: Exchange.now)
        #expect(outcome(life, sent: retiredAt) == .unknownRecipient)
        life.erase(at: Exchange.now)
        #expect(outcome(life, sent: retiredAt) == .unknownRecipient)
    }
}

@Suite("A key store in memory") struct KeyStoreTests {
    @Test("A store returns all keys that match, and no others") func lookUp() {
        let identities = (0..<3).map { _ in DevicePrivateKey() }
        let store = InMemoryKeyStore(identities.map { DeviceKey($0, created: Exchange.now) })
        for wanted in [[], [1], [0, 2]] {
            let recipients = wanted.map { identities[$0].recipient }
            #expect(store.keys { recipients.contains($0) }.map(\.identity.recipient) == recipients)
        }
    }
}
