import TestSupport
import Testing

@testable import SealedPush

@Suite("A key store in memory")
struct KeyStoreTests {
    @Test("gives all keys with the ID and no others")
    func lookUp() throws {
        let (first, second) = (try Identity(secret: Twins.first), try Identity(secret: Twins.second))
        let stranger = Identity()
        let store = InMemoryKeyStore([first, stranger, second].map { DeviceKey($0, created: Exchange.now) })
        #expect(
            store.keys(for: first.recipient.keyID).map(\.identity.recipient) == [first.recipient, second.recipient])
        #expect(store.keys(for: stranger.recipient.keyID).map(\.identity.recipient) == [stranger.recipient])
        #expect(store.keys(for: Identity().recipient.keyID).isEmpty)
    }

    @Test("is tried active before retired, and newest first")
    func order() {
        func key(_ seconds: Int64, _ state: KeyLife.State) -> DeviceKey {
            var life = KeyLife(created: Exchange.now.advanced(bySeconds: seconds))
            if state == .retired { life.retire(at: Exchange.now) }
            return DeviceKey(Identity(), life: life)
        }
        var random = SeededGenerator()
        let ordered = [key(0, .active), key(-5, .active), key(9, .retired), key(-9, .retired)]
        for _ in 0..<20 {
            let sorted = ordered.shuffled(using: &random).sorted(by: DeviceKey.isTriedBefore)
            #expect(sorted.map(\.identity.recipient) == ordered.map(\.identity.recipient))
        }
    }
}
