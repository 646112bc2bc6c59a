internal import SealedPush

/// The secret items of one account: those of the device whose names begin with `of <number> `, without that beginning. So the
/// code for a device's keys works on an account's, and sees no other's.
package struct AccountItems: SecretItems {
    private let items: any SecretItems
    private let prefix: String

    package init(of id: AccountID, in items: any SecretItems) {
        self.items = items
        prefix = Self.prefix(id)
    }

    package func list() throws(SecretItemError) -> [ListedItem] {
        try items.list().compactMap { item in
            guard item.account.hasPrefix(prefix) else { return nil }
            return ListedItem(account: String(item.account.dropFirst(prefix.count)), attributes: item.attributes)
        }
    }

    package func secret(account: String) throws(SecretItemError) -> ItemSecret {
        try items.secret(account: prefix + account)
    }

    package func add(_ item: SecretItem) throws(SecretItemError) {
        try items.add(SecretItem(account: prefix + item.account, attributes: item.attributes, secret: item.secret))
    }

    package func replace(_ item: ListedItem, attributes: [UInt8]) throws(SecretItemError) {
        try items.replace(
            ListedItem(account: prefix + item.account, attributes: item.attributes), attributes: attributes)
    }

    package func remove(account: String) throws(SecretItemError) { try items.remove(account: prefix + account) }

    static func prefix(_ id: AccountID) -> String { "of \(id) " }
}
