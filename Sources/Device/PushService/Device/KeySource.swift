/// Where a device's keys are stored. The app and its extension use the same source. There is only one kind, because keys
/// are read where they are changed: Docs/Decisions/0034-keys-in-the-keychain.md.
public struct KeySource: Sendable {
    private let source: @Sendable (DeviceEnvironment) -> (any SecretItems)?
    private var account: AccountID?

    private init(_ source: @escaping @Sendable (DeviceEnvironment) -> (any SecretItems)?) { self.source = source }

    /// Apple's keychain, in an access group that the app and its extension share: an app group (`group.com.example`), or a
    /// keychain group with the team's prefix (`ABCDE12345.com.example.shared`). In the simulator, the simulated phone's keychain.
    public static func keychain(accessGroup: String) -> KeySource { KeySource { $0.keychain(accessGroup) } }

    /// The items of the app's own account, or of the account that this source is for. Nil if the device has no keychain.
    func items(_ environment: DeviceEnvironment) -> (any SecretItems)? {
        guard let account else { return source(environment) }
        return source(environment).map { AccountItems(of: account, in: $0) }
    }

    /// The items of all accounts.
    func allItems(_ environment: DeviceEnvironment) -> (any SecretItems)? { source(environment) }

    /// The part of these keys that belongs to an account.
    func of(_ id: AccountID) -> KeySource {
        var keys = self
        keys.account = id
        return keys
    }

    /// These items, on any device. For tests.
    package static func items(_ items: any SecretItems) -> KeySource { KeySource { _ in items } }
}
