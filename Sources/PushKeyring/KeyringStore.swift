public import SealedPush

/// One device's keys in a keyring, as what opens asks for them.
public struct KeyringStore: KeyStore {
    private let keyring: Keyring
    private let name: KeyName

    public init(_ keyring: Keyring, device name: KeyName) {
        self.keyring = keyring
        self.name = name
    }

    public func keys(for id: KeyID) throws(KeyStoreError) -> [DeviceKey] {
        do {
            return try keyring.deviceKeys(named: name).filter { $0.identity.recipient.keyID == id }
        } catch {
            throw .unavailable(error.description)
        }
    }

    public func senderSet(for topic: Topic) throws(KeyStoreError) -> SenderSet? {
        do { return try keyring.trustList().senderSet(for: topic) } catch { throw .unavailable(error.description) }
    }
}
