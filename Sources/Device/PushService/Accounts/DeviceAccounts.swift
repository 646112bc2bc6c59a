internal import Foundation
internal import PushCore
internal import SealedPush
internal import UserNotifications

/// The accounts with names on this device, each with its own server, senders, and keys. For the app, never for its extension.
///
/// Get them from ``ServiceConfiguration/accounts``. `SealedPushes` in `PushApp` does all of this, and tells the servers. Each
/// call reads and writes the keychain, off the main actor. A process may be killed at any time, and ``tidy()`` finishes the
/// work. An app's own account, without a name, isn't among them. Source: DeviceState 39.
public struct DeviceAccounts: Sendable {
    private let app: ServiceConfiguration

    init(_ app: ServiceConfiguration) { self.app = app }

    /// Adds an account, in one step. It has no keys before its configuration is registered (``PushServerClient``) or enrolled.
    ///
    /// - Returns: The configuration of the account, for the app's other calls. If the account is there already, with the same
    ///   pins, this changes nothing.
    /// - Throws: `accountExists`, `tooManyAccounts`, `unusableAccount`, or the errors of the keychain.
    @discardableResult
    @concurrent public func add(_ account: PushAccount) async throws(DeviceError) -> ServiceConfiguration {
        try addNow(account)
    }

    /// Returns the accounts' configurations, in the order of their names.
    ///
    /// - Throws: `unavailable` if an account's pins are damaged; remove it by its name.
    @concurrent public func all() async throws(DeviceError) -> [ServiceConfiguration] {
        try configurations().compactMap { $0.configuration }
    }

    /// Returns the names of all accounts, also of those whose pins are damaged.
    @concurrent public func names() async throws(DeviceError) -> [AccountName] { try live().map(\.name) }

    /// Removes an account and destroys its keys, sender sets, files, and notifications, without telling its server. Messages to
    /// it, wherever held, never open again. Does nothing if there is none with this name.
    @concurrent public func remove(_ name: AccountName) async throws(DeviceError) {
        guard let id = try leaveNow(name) else { return }
        await removeNotifications { $0 == id }
        try eraseNow(id)
    }

    /// Finishes interrupted removals, without telling the servers, and removes what belongs to no account. Call it at launch.
    @concurrent public func tidy() async throws(DeviceError) {
        for left in try leftNow() { try eraseNow(left.id) }
        try await removeStrays()
    }

    /// The number on the icon: the sum of all accounts' counts and the app's own.
    @concurrent public func badge() async throws(DeviceError) -> Int { try badgeNow() }

    static let folderName = "accounts"
}

extension ServiceConfiguration {
    /// The accounts with names on this device.
    public var accounts: DeviceAccounts { DeviceAccounts(self) }
}

extension DeviceAccounts {
    package func addNow(_ account: PushAccount) throws(DeviceError) -> ServiceConfiguration {
        guard account.isUsable else { throw .unusableAccount }
        let listed = StoredAccounts(try list())
        // An interrupted removal may still use the name.
        if !listed.left.isEmpty { _ = try leftNow() }
        let known = listed.live
        if let same = known.first(where: { $0.name == account.name }) {
            guard let pins = try pins(of: same), pins == account else { throw .accountExists }
            return app.of(pins, same.id)
        }
        guard known.count < PushAccount.maximumCount else { throw .tooManyAccounts }
        let id = AccountID()
        let item = StoredAccount.item(account, id)
        let isNew = try call { (items) throws(SecretItemError) in
            do throws(SecretItemError) { try items.add(item) } catch {
                guard error == .duplicate else { throw error }
                return false
            }
            return true
        }
        // Another process was faster.
        guard isNew else { throw .accountExists }
        // Two processes may have added the last one at the same time.
        guard try live().count <= PushAccount.maximumCount else {
            try call { (items) throws(SecretItemError) in try items.remove(account: item.account) }
            throw .tooManyAccounts
        }
        makeFolder(id)
        return app.of(account, id)
    }

    /// Returns each account; the configuration is nil if the pins are damaged.
    package func configurations() throws(DeviceError) -> [(name: AccountName, configuration: ServiceConfiguration?)] {
        var all: [(name: AccountName, configuration: ServiceConfiguration?)] = []
        for account in try live() {
            do throws(DeviceError) {
                guard let pins = try pins(of: account) else { continue }
                all.append((account.name, app.of(pins, account.id)))
            } catch {
                guard error == Self.damaged else { throw error }
                all.append((account.name, nil))
            }
        }
        return all
    }

    /// Removes an account, in one step, and destroys its keys. The enrollment key, which tells the server, stays until ``eraseNow(_:)``.
    ///
    /// - Returns: The account's number; nil if there is none with this name.
    package func leaveNow(_ name: AccountName) throws(DeviceError) -> AccountID? {
        let listed = StoredAccounts(try list())
        guard let account = listed.live.first(where: { $0.name == name }) else { return nil }
        let pins: PushAccount?
        do throws(DeviceError) { pins = try self.pins(of: account) } catch {
            // Damaged pins name no server, so there is none to tell.
            guard error == Self.damaged else { throw error }
            pins = nil
        }
        if let pins { try addUnlessThere(LeftAccount.item(pins, account.id)) }
        try removeUnlessGone(account.itemName)
        try destroyKeys(of: account.id)
        return account.id
    }

    /// Returns the accounts that are being removed, and their configurations for telling their servers. Finishes
    /// interrupted calls of ``leaveNow(_:)``.
    package func leftNow() throws(DeviceError) -> [(id: AccountID, configuration: ServiceConfiguration?)] {
        let listed = try list()
        var all: [(id: AccountID, configuration: ServiceConfiguration?)] = []
        for left in StoredAccounts(listed).left {
            for account in listed.compactMap(StoredAccount.init) where account.id == left.id {
                try removeUnlessGone(account.itemName)
            }
            try destroyKeys(of: left.id)
            let pins = try call { (items) throws(SecretItemError) in try left.account(in: items) }
            all.append((left.id, pins.map { app.of($0, left.id) }))
        }
        return all
    }

    /// Destroys everything of an account that was removed: items, files, and the note that it was removed, in this order.
    package func eraseNow(_ id: AccountID) throws(DeviceError) {
        let own = AccountItems.prefix(id)
        for item in try list() where item.account.hasPrefix(own) { try removeUnlessGone(item.account) }
        removeFolder(id)
        try removeUnlessGone(LeftAccount.name(id))
    }

    /// Removes notifications, items, and files of accounts that don't exist, such as those that an extension made while its
    /// account was removed.
    package func removeStrays() async throws(DeviceError) {
        guard try hasTraces() else { return }
        // First what may be a stray, then the accounts: an account is older than what belongs to it.
        let folders = folderIDs()
        let ids = StoredAccounts(try list()).ids
        let accounts = StoredAccounts(try list())
        for id in ids.union(folders) where accounts.isUnknown(id) { try eraseNow(id) }
        let live = Set(accounts.live.map(\.id))
        await removeNotifications { id in id.map { !live.contains($0) && accounts.isUnknown($0) } ?? false }
    }

    /// Removes the delivered notifications of some accounts; nil is the app's own.
    ///
    /// - Parameter keepsLocked: Whether to keep those that may be another account's: the device was locked when they came.
    package func removeNotifications(
        keepingLocked keepsLocked: Bool = false, where isGone: @Sendable (AccountID?) -> Bool
    ) async {
        let center = app.environment.notifications
        let gone = await center.deliveredNotifications().filter { notification in
            let shown = app.sealed(userInfo: notification.request.content.userInfo)
            return isGone(shown?.accountID) && !(keepsLocked && shown?.reason == .locked)
        }
        guard !gone.isEmpty else { return }
        center.removeDeliveredNotifications(withIdentifiers: gone.map(\.request.identifier))
        // The removal returns before it's done, but the system answers in order.
        _ = await center.deliveredNotifications()
    }

    package func badgeNow() throws(DeviceError) -> Int {
        let containers = try live().map { SharedContainer.account($0.id, in: app.container.whole) }
        let folders = ([app.container.whole] + containers).compactMap(app.environment.folder)
        return min(BadgeCount.maximum, folders.reduce(0) { $0 + BadgeCount(in: $1).value })
    }

    /// Whether the device has accounts with names. False if that can't be read.
    package var hasAny: Bool { (try? hasTraces() && !live().isEmpty) ?? false }

    /// The accounts, and those that are being removed.
    package struct Known: Sendable {
        package let live: [ServiceConfiguration]
        /// The configuration is nil if the pins are damaged.
        package let left: [(id: AccountID, configuration: ServiceConfiguration?)]
    }

    @concurrent package func known() async throws(DeviceError) -> Known {
        guard try hasTraces() else { return Known(live: [], left: []) }
        let left = try leftNow()
        return Known(live: try configurations().compactMap { $0.configuration }, left: left)
    }

    @concurrent package func leave(_ name: AccountName) async throws(DeviceError) -> AccountID? { try leaveNow(name) }

    @concurrent package func erase(_ id: AccountID) async throws(DeviceError) { try eraseNow(id) }

    /// Whether there is anything of an account with a name. Costs an app without such accounts one listing, and no write. Before the
    /// first unlock, items may be hidden.
    private func hasTraces() throws(DeviceError) -> Bool {
        if !folderIDs().isEmpty { return true }
        return StoredAccounts(try call { (items) throws(SecretItemError) in try items.list() }).hasTraces
    }

    private func live() throws(DeviceError) -> [StoredAccount] { StoredAccounts(try list()).live }

    private func pins(of account: StoredAccount) throws(DeviceError) -> PushAccount? {
        let items = try items()
        do throws(AccountReadError) { return try account.account(in: items) } catch {
            switch error {
            case .damaged: throw Self.damaged
            case .keychain(let error): throw Self.error(error)
            }
        }
    }

    private func destroyKeys(of id: AccountID) throws(DeviceError) {
        let keys = AccountItems.prefix(id) + "key "
        for item in try list() where item.account.hasPrefix(keys) { try removeUnlessGone(item.account) }
    }

    private static let damaged = DeviceError.unavailable(
        "the account's item in the keychain is damaged; remove the account and add it again")
}

// The keychain.
extension DeviceAccounts {
    private func items() throws(DeviceError) -> any SecretItems {
        guard let items = app.keys.allItems(app.environment) else {
            throw .unavailable("there is no keychain outside Apple's systems")
        }
        return items
    }

    /// Lists every item: before the first unlock, some may be hidden.
    private func list() throws(DeviceError) -> [ListedItem] {
        try call { (items) throws(SecretItemError) in try items.all() }
    }

    private func addUnlessThere(_ item: SecretItem) throws(DeviceError) {
        try call { (items) throws(SecretItemError) in
            do throws(SecretItemError) { try items.add(item) } catch { guard error == .duplicate else { throw error } }
        }
    }

    private func removeUnlessGone(_ account: String) throws(DeviceError) {
        try call { (items) throws(SecretItemError) in
            do throws(SecretItemError) { try items.remove(account: account) } catch {
                guard error == .notFound else { throw error }
            }
        }
    }

    private func call<Answer>(
        _ body: (any SecretItems) throws(SecretItemError) -> Answer
    ) throws(DeviceError) -> Answer {
        let items = try items()
        do throws(SecretItemError) { return try body(items) } catch { throw Self.error(error) }
    }

    private static func error(_ error: SecretItemError) -> DeviceError {
        switch KeyChangeError(error) {
        case .raced: .unavailable("another process keeps changing the accounts; try again later")
        case .failed(let error): error
        }
    }
}

// The files.
extension DeviceAccounts {
    private var folder: URL? {
        app.environment.folder(app.container.whole)?.appending(path: Self.folderName, directoryHint: .isDirectory)
    }

    /// Makes the account's folder and those above it, each durable. If that fails, the ledger makes them.
    private func makeFolder(_ id: AccountID) {
        guard let folder else { return }
        let own = folder.appending(path: id.description, directoryHint: .isDirectory)
        for each in [folder.deletingLastPathComponent(), folder, own] {
            try? FileProtection.always.ensureFolder(each)
        }
    }

    private func removeFolder(_ id: AccountID) {
        guard let folder else { return }
        try? FileManager.default.removeItem(at: folder.appending(path: id.description))
        try? DurableFiles.sync(folder: folder)
    }

    private func folderIDs() -> Set<AccountID> {
        let names = folder.flatMap { try? DurableFiles.names(in: $0) } ?? []
        return Set(names.compactMap { AccountID(parsing: $0) })
    }
}
