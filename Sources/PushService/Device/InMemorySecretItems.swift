internal import PushCrypto

/// Secret items that are gone with the process: for tests.
package final class InMemorySecretItems: SecretItems {
    private let stored: Locked<[SecretItem]>

    /// - Parameter items: of any names; a name may come twice, as a careless system might have it.
    package init(_ items: [SecretItem] = []) { stored = Locked(items) }

    package func items() -> [SecretItem] { stored.withLock { $0 } }

    package func add(_ item: SecretItem) throws(SecretItemError) {
        try stored.withLock { (stored) throws(SecretItemError) in
            guard !stored.contains(where: { $0.account == item.account }) else { throw .duplicate }
            stored.append(item)
        }
    }

    package func replace(_ item: SecretItem, attributes: [UInt8]) throws(SecretItemError) {
        try stored.withLock { (stored) throws(SecretItemError) in
            let index = stored.firstIndex { $0.account == item.account && $0.attributes == item.attributes }
            guard let index else { throw .notFound }
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
