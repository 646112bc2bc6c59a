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
}
