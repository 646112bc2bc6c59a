internal import SealedPush

/// An account as it's stored, `account <name>`, with its number in the attributes and its pins as the secret.
package struct StoredAccount: Equatable, Sendable {
    package let name: AccountName
    package let id: AccountID
    private let item: ListedItem

    init?(_ item: ListedItem) {
        guard item.account.hasPrefix(Self.prefix),
            let name = AccountName(parsing: String(item.account.dropFirst(Self.prefix.count))),
            let members = JSONReader.object(item.attributes, maximumByteCount: 1_024),
            let id = members["id"]?.string.flatMap({ AccountID(parsing: $0) })
        else { return nil }
        self.name = name
        self.id = id
        self.item = item
    }

    static func item(_ account: PushAccount, _ id: AccountID) -> SecretItem {
        SecretItem(
            account: prefix + account.name.description,
            attributes: JSONValue.object(["id": .string(id.description)]).bytes,
            secret: account.json(id).withUnsafeBytes { ItemSecret(copying: $0) })
    }

    var itemName: String { item.account }

    /// Returns the pins; nil if the account has been removed since it was listed, even if another one has its name now.
    ///
    /// - Throws: `damaged` if they can't be parsed: without all of them, it isn't known whom to trust.
    func account(in items: any SecretItems) throws(AccountReadError) -> PushAccount? {
        let secret: ItemSecret?
        do { secret = try items.secret(of: item) } catch { throw .keychain(error) }
        guard let secret else { return nil }
        guard let account = secret.withBytes({ PushAccount(parsing: $0, of: id) }), account.name == name else {
            // The name's new account has another number.
            if let listed = try? items.list(), !listed.contains(item) { return nil }
            throw .damaged
        }
        return account
    }

    static let prefix = "account "
}

/// Why an account's pins couldn't be read.
enum AccountReadError: Error {
    case keychain(SecretItemError)
    case damaged
}
