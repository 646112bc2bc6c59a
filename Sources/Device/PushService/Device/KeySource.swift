/// Where a device's keys are stored. The app and its extension use the same source. There is only one kind, because keys
/// are read where they are changed: Docs/Decisions/0034-keys-in-the-keychain.md.
public struct KeySource: Sendable {
    /// Nil if the device has no keychain.
    let items: @Sendable (DeviceEnvironment) -> (any SecretItems)?

    /// Apple's keychain, in an access group that the app and its extension share: an app group (`group.com.example`), or a
    /// keychain group with the team's prefix (`ABCDE12345.com.example.shared`). In the simulator, the simulated phone's keychain.
    public static func keychain(accessGroup: String) -> KeySource { KeySource { $0.keychain(accessGroup) } }

    /// These items, on any device. For tests.
    package static func items(_ items: any SecretItems) -> KeySource { KeySource { _ in items } }
}
