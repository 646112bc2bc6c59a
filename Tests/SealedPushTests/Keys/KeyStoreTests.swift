import TestSupport
import Testing

@testable import SealedPush

@Suite("A key store in memory")
struct KeyStoreTests {
    @Test("gives all keys with the ID and no others")
    func lookUp() throws {
        let (first, second) = (try DevicePrivateKey(secret: Twins.first), try DevicePrivateKey(secret: Twins.second))
        let stranger = DevicePrivateKey()
        let store = InMemoryKeyStore([first, stranger, second].map { DeviceKey($0, created: Exchange.now) })
        #expect(
            store.keys(for: first.recipient.keyID).map(\.identity.recipient) == [first.recipient, second.recipient])
        #expect(store.keys(for: stranger.recipient.keyID).map(\.identity.recipient) == [stranger.recipient])
        #expect(store.keys(for: DevicePrivateKey().recipient.keyID).isEmpty)
    }
}
