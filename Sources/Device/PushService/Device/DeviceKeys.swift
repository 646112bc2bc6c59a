package import SealedPush

/// A device's own keys in its keychain, as needed for opening messages. Only reads; ``OwnDevice`` changes them. A key is
/// found by its name, and only its secret is read. An extension that reads while its app is making a change sees a state
/// between two calls, which still opens what should open. A key is reported missing only if no item can be hidden; before
/// the first unlock, the answer is `locked`. Safe across threads and processes.
package struct DeviceKeys: KeyStore {
    private let items: (any SecretItems)?

    /// - Parameter items: Nil if the device has no keychain.
    package init(_ items: (any SecretItems)?) { self.items = items }

    package func keys(matching isWanted: (DevicePublicKey) -> Bool) throws(KeyStoreError) -> [DeviceKey] {
        try read { (items) throws(SecretItemError) in
            // A key whose secret could be read exists, whatever else is hidden.
            let found = try Self.keys(isWanted, among: items.list(), in: items)
            return try found.isEmpty ? Self.keys(isWanted, among: items.all(), in: items) : found
        }
    }

    /// The keys of each account that match, the app's own first and then by name, and all accounts with names. Costs no more
    /// calls than ``keys(matching:)``; hashes each account's public keys, and reads only the matching keys' secrets.
    func matches(_ isWanted: (DevicePublicKey) -> Bool) throws(KeyStoreError) -> (
        found: [Match], accounts: [StoredAccount]
    ) {
        try read { (items) throws(SecretItemError) in
            let first = try Self.matches(isWanted, among: items.list(), in: items)
            return try first.found.isEmpty ? Self.matches(isWanted, among: items.all(), in: items) : first
        }
    }

    /// One account's keys; the app's own if `account` is nil.
    struct Match {
        let account: StoredAccount?
        let keys: [DeviceKey]
    }

    private static func matches(
        _ isWanted: (DevicePublicKey) -> Bool, among listed: [ListedItem], in items: any SecretItems
    ) throws(SecretItemError) -> (found: [Match], accounts: [StoredAccount]) {
        let accounts = StoredAccounts(listed)
        var found = [Match(account: nil, keys: try keys(isWanted, among: listed, in: items))]
        for account in accounts.live {
            let items = AccountItems(of: account.id, in: items)
            let keys = try keys(isWanted, among: accounts.items(of: account.id), in: items)
            found.append(Match(account: account, keys: keys))
        }
        return (found.filter { !$0.keys.isEmpty }, accounts.live)
    }

    /// Returns an account's pins; nil if it has been removed.
    func pins(of account: StoredAccount) throws(KeyStoreError) -> PushAccount? {
        guard let items else { return nil }
        do throws(AccountReadError) { return try account.account(in: items) } catch {
            switch error {
            case .damaged: throw .unavailable("the account's item is damaged; remove the account and add it again")
            case .keychain(let error): return try read { (_) throws(SecretItemError) in throw error }
            }
        }
    }

    private static func keys(
        _ isWanted: (DevicePublicKey) -> Bool, among listed: [ListedItem], in items: any SecretItems
    ) throws(SecretItemError) -> [DeviceKey] {
        var found: [DeviceKey] = []
        for key in StoredItems(listed).keys where key.life.opens && isWanted(key.recipient) {
            if let key = try key.deviceKey(in: items) { found.append(key) }
        }
        return found
    }

    package func senderSet(
        for topic: Topic, of authorities: [AuthorityPublicKey]
    ) throws(KeyStoreError) -> SenderSet? {
        for _ in 1...Self.attemptCount {
            let listed = try read { (items) throws(SecretItemError) in try items.all() }
            let sets = StoredItems(listed).senderSets(for: topic).filter { authorities.contains($0.authority) }
            guard let newest = StoredSenderSet.newest(of: sets) else { return nil }
            // If it's gone, it has made room for a newer one.
            guard let secret = try read({ (items) throws(SecretItemError) in try items.secret(of: newest.item) }) else {
                continue
            }
            // Without it, the senders that are built into the app would be trusted again.
            guard let set = newest.set(secret) else { throw .unavailable("the newest sender set is damaged") }
            return set
        }
        throw .unavailable("another process keeps changing the sender set; try again later")
    }

    private func read<Answer>(
        _ body: (any SecretItems) throws(SecretItemError) -> Answer
    ) throws(KeyStoreError) -> Answer {
        guard let items else {
            throw .unavailable("there is no keychain outside Apple's systems; run the extension in device-simulator")
        }
        let end = SystemLog.beginReadingKeys()
        defer { end() }
        do {
            return try body(items)
        } catch {
            switch error {
            case .locked: throw .locked
            case .other(let code): throw .unavailable("the keychain failed with error \(code)")
            case .duplicate, .notFound: throw .unavailable("the keychain could not be read")
            }
        }
    }

    private static let attemptCount = 16
}
