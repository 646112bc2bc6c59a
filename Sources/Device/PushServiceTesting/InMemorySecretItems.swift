internal import PushCore
package import PushService

/// Secret items that last only as long as the process.
package final class InMemorySecretItems: SecretItems {
    private let stored: Locked<[SecretItem]>

    /// - Parameter items: Items with any names; a name may occur twice, as on a faulty system.
    package init(_ items: [SecretItem] = []) { stored = Locked(items) }

    /// Returns all items with their secrets, as of a single moment.
    package func items() -> [SecretItem] { stored.withLock { $0 } }

    package func list() -> [ListedItem] { items().map(\.listed) }

    package func secret(account: String) throws(SecretItemError) -> ItemSecret {
        guard let item = items().first(where: { $0.account == account }) else { throw .notFound }
        return item.secret
    }

    package func add(_ item: SecretItem) throws(SecretItemError) {
        try stored.withLock { (stored) throws(SecretItemError) in
            guard !stored.contains(where: { $0.account == item.account }) else { throw .duplicate }
            stored.append(item)
        }
    }

    package func replace(_ item: ListedItem, attributes: [UInt8]) throws(SecretItemError) {
        try stored.withLock { (stored) throws(SecretItemError) in
            guard let index = stored.firstIndex(where: { $0.listed == item }) else { throw .notFound }
            stored[index] = SecretItem(account: item.account, attributes: attributes, secret: stored[index].secret)
        }
    }

    package func remove(account: String) throws(SecretItemError) {
        try stored.withLock { (stored) throws(SecretItemError) in
            guard stored.contains(where: { $0.account == account }) else { throw .notFound }
            stored.removeAll { $0.account == account }
        }
    }
}
