import PushCore

@testable import PushService

/// Secret items that are gone with the process.
final class InMemorySecretItems: SecretItems {
    private let stored: Locked<[SecretItem]>

    /// - Parameter items: of any names; a name may come twice, as a careless system might have it.
    init(_ items: [SecretItem] = []) { stored = Locked(items) }

    /// All of them with their secrets, as they were at one moment.
    func items() -> [SecretItem] { stored.withLock { $0 } }

    func list() -> [ListedItem] { items().map(\.listed) }

    func secret(account: String) throws(SecretItemError) -> ItemSecret {
        guard let item = items().first(where: { $0.account == account }) else { throw .notFound }
        return item.secret
    }

    func add(_ item: SecretItem) throws(SecretItemError) {
        try stored.withLock { (stored) throws(SecretItemError) in
            guard !stored.contains(where: { $0.account == item.account }) else { throw .duplicate }
            stored.append(item)
        }
    }

    func replace(_ item: ListedItem, attributes: [UInt8]) throws(SecretItemError) {
        try stored.withLock { (stored) throws(SecretItemError) in
            guard let index = stored.firstIndex(where: { $0.listed == item }) else { throw .notFound }
            stored[index] = SecretItem(account: item.account, attributes: attributes, secret: stored[index].secret)
        }
    }

    func remove(account: String) throws(SecretItemError) {
        try stored.withLock { (stored) throws(SecretItemError) in
            guard stored.contains(where: { $0.account == account }) else { throw .notFound }
            stored.removeAll { $0.account == account }
        }
    }
}
