import SealedPush

/// The account to which a message belongs: one with a name, or the app's own. It leads to everything that one account mustn't
/// share with another: trust, ledger, receipts, and the count.
struct Owner: Sendable {
    /// The account's configuration; the app's own for the account without a name.
    let configuration: ServiceConfiguration
    /// The account as it was listed; nil for the account without a name.
    let stored: StoredAccount?
    /// The other accounts' containers; nil if the account without a name is the only one.
    let others: [SharedContainer]?

    /// Nil for the account without a name.
    var id: AccountID? { configuration.container.account }
    var name: AccountName? { configuration.account?.name }

    /// Adds the account to a notification's user info.
    func write(to members: inout [String: Any]) {
        members["account"] = name?.description
        members["account-number"] = id?.description
    }

    /// The count to which the account's messages add.
    func badge(on device: DeviceEnvironment) -> BadgeCount? {
        guard let folder = device.folder(configuration.container) else { return nil }
        return BadgeCount(in: folder, beside: others?.compactMap(device.folder))
    }
}

extension ServiceConfiguration {
    /// The configuration of an account with a name: its keys, trust, and files in place of the app's own.
    func of(_ account: PushAccount, _ id: AccountID) -> ServiceConfiguration {
        var own = self
        own.account = account
        own.keys = keys.of(id)
        own.senders = account.senders
        own.authorities = account.authorities
        own.appSafeDefault = appSafeDefault ?? safeDefault
        own.safeDefault = account.safeDefault ?? appSafeDefault ?? safeDefault
        own.container = .account(id, in: container.whole)
        return own
    }
}
