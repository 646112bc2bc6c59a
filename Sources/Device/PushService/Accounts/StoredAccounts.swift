/// The accounts in one listing of a device's items.
package struct StoredAccounts {
    /// The accounts with names, in the order of their names. One that the app is removing isn't among them.
    package let live: [StoredAccount]
    package let left: [LeftAccount]
    /// Each account's own items, without the account's number in their names.
    private let items: [AccountID: [ListedItem]]
    /// Whether each item that begins as an account's does could be parsed.
    private let isWhole: Bool

    package init(_ listed: [ListedItem]) {
        var accounts: [StoredAccount] = []
        var left: [LeftAccount] = []
        var items: [AccountID: [ListedItem]] = [:]
        var isWhole = true
        for item in listed {
            if item.account.hasPrefix("of ") {
                let words = item.account.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
                guard words.count == 3, let id = AccountID(parsing: words[1]) else { continue }
                items[id, default: []].append(
                    ListedItem(account: String(words[2]), attributes: item.attributes))
            } else if let account = StoredAccount(item) {
                accounts.append(account)
            } else if let one = LeftAccount(item) {
                left.append(one)
            } else if item.account.hasPrefix(StoredAccount.prefix) {
                isWhole = false
            }
        }
        let gone = Set(left.map(\.id))
        live = accounts.filter { !gone.contains($0.id) }.sorted { $0.name < $1.name }
        self.left = left
        self.items = items
        self.isWhole = isWhole
    }

    /// The account's own items.
    func items(of id: AccountID) -> [ListedItem] { items[id] ?? [] }

    /// Whether any item belongs to an account.
    var hasTraces: Bool { !live.isEmpty || !left.isEmpty || !items.isEmpty || !isWhole }

    /// The numbers that have items.
    var ids: Set<AccountID> { Set(items.keys) }

    /// Whether it's certain that a number belongs to no account. Not if an account's item can't be parsed: its number isn't known.
    func isUnknown(_ id: AccountID) -> Bool {
        isWhole && !live.contains { $0.id == id } && !left.contains { $0.id == id }
    }
}
