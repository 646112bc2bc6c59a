internal import SealedPush

/// An account that the app is removing, as it's stored, `left <number>`: the same secret, for the request to its server.
package struct LeftAccount: Equatable, Sendable {
    package let id: AccountID
    let item: ListedItem

    init?(_ item: ListedItem) {
        guard item.account.hasPrefix(Self.prefix),
            let id = AccountID(parsing: item.account.dropFirst(Self.prefix.count))
        else { return nil }
        self.id = id
        self.item = item
    }

    static func item(_ account: PushAccount, _ id: AccountID) -> SecretItem {
        SecretItem(
            account: name(id), attributes: Array("{}".utf8),
            secret: account.json(id).withUnsafeBytes { ItemSecret(copying: $0) })
    }

    /// Returns nil if the item is gone or damaged. The server then can't be told.
    func account(in items: any SecretItems) throws(SecretItemError) -> PushAccount? {
        try items.secret(of: item)?.withBytes { PushAccount(parsing: $0, of: id) }
    }

    static func name(_ id: AccountID) -> String { "\(prefix)\(id)" }

    private static let prefix = "left "
}
