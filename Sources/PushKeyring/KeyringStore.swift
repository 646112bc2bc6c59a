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
            let key = try keyring.deviceKey(named: name)
            return key.identity.recipient.keyID == id ? [key] : []
        } catch {
            throw .unavailable(error.description)
        }
    }
}
