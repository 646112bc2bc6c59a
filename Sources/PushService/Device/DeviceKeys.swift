package import SealedPush

/// A device's own keys in its keychain, as what opens asks for them. Only reads; ``OwnDevice`` changes them.
///
/// Each question reads all items at one moment, so an extension that asks while its app is in the middle of a change
/// finds a state between two calls; each of those opens what should open. Safe from several threads and processes.
package struct DeviceKeys: KeyStore {
    let items: any SecretItems

    package init(_ items: any SecretItems) { self.items = items }

    package func keys(for id: KeyID) throws(KeyStoreError) -> [DeviceKey] {
        try stored().keys.filter { $0.recipient.keyID == id && $0.life.opens }.compactMap(\.deviceKey)
    }

    package func senderSet(for topic: Topic) throws(KeyStoreError) -> SenderSet? {
        guard let newest = StoredSenderSet.newest(of: try stored().senderSets(for: topic)) else { return nil }
        // Without it the senders that are built into the app would be believed again.
        guard let set = newest.set else { throw .unavailable("the newest sender set is damaged") }
        return set
    }

    private func stored() throws(KeyStoreError) -> StoredItems {
        do {
            return StoredItems(try items.items())
        } catch {
            switch error {
            case .locked: throw .locked
            case .other(let code): throw .unavailable("the keychain answered with \(code)")
            case .duplicate, .notFound: throw .unavailable("the keychain could not be read")
            }
        }
    }
}

#if canImport(Security)
    extension DeviceKeys {
        /// - Parameter accessGroup: with the team's prefix, as in both targets' entitlements.
        init(accessGroup: String) { self.init(KeychainItems(accessGroup: accessGroup)) }
    }
#endif
