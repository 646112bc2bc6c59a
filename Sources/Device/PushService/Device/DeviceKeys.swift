package import SealedPush

/// A device's own keys in its keychain, as what opens asks for them. Only reads; ``OwnDevice`` changes them.
///
/// A key is found by its name, and its secret alone is read. An extension that asks while its app is in the middle of a
/// change finds a state between two calls; each of those opens what should open. That something is not there is said only
/// when nothing can be hidden: before the first unlock the answer is `locked`. Safe from several threads and processes.
package struct DeviceKeys: KeyStore {
    let items: any SecretItems

    package init(_ items: any SecretItems) { self.items = items }

    package func keys(for id: KeyID) throws(KeyStoreError) -> [DeviceKey] {
        try read { () throws(SecretItemError) in
            // One whose secret could be read is there, whatever else is hidden.
            let found = try keys(for: id, among: items.list())
            return try found.isEmpty ? keys(for: id, among: items.all()) : found
        }
    }

    private func keys(for id: KeyID, among listed: [ListedItem]) throws(SecretItemError) -> [DeviceKey] {
        var found: [DeviceKey] = []
        for key in StoredItems(listed).keys where key.recipient.keyID == id && key.life.opens {
            if let key = try key.deviceKey(in: items) { found.append(key) }
        }
        return found
    }

    package func senderSet(for topic: Topic) throws(KeyStoreError) -> SenderSet? {
        for _ in 1...Self.attemptCount {
            let listed = try read { () throws(SecretItemError) in try items.all() }
            guard let newest = StoredSenderSet.newest(of: StoredItems(listed).senderSets(for: topic)) else {
                return nil
            }
            // One that is gone has made room for a newer one.
            guard let secret = try read({ () throws(SecretItemError) in try items.secret(of: newest.item) }) else {
                continue
            }
            // Without it the senders that are built into the app would be believed again.
            guard let set = newest.set(secret) else { throw .unavailable("the newest sender set is damaged") }
            return set
        }
        throw .unavailable("another process keeps changing the sender set")
    }

    private func read<Answer>(_ body: () throws(SecretItemError) -> Answer) throws(KeyStoreError) -> Answer {
        do {
            return try body()
        } catch {
            switch error {
            case .locked: throw .locked
            case .other(let code): throw .unavailable("the keychain answered with \(code)")
            case .duplicate, .notFound: throw .unavailable("the keychain could not be read")
            }
        }
    }

    private static let attemptCount = 16
}

extension SecretItems {
    /// Nil where the item is gone since it was listed.
    func secret(of item: ListedItem) throws(SecretItemError) -> ItemSecret? {
        do throws(SecretItemError) { return try secret(account: item.account) } catch {
            guard error == .notFound else { throw error }
            return nil
        }
    }
}
