/// Where a device's keys are. App and extension name the same.
///
/// There is one place for them, since what reads keys must be what changes them: Docs/Decisions/0034-keys-in-the-keychain.md.
public struct KeySource: Sendable {
    let place: Place

    enum Place: Sendable {
        case keychain(accessGroup: String)
        case items(any SecretItems)
    }

    /// Apple's keychain, in the access group that app and extension share, with the team's prefix
    /// (`ABCDE12345.com.example.shared`). In the simulator: the simulated phone's.
    public static func keychain(accessGroup: String) -> KeySource {
        KeySource(place: .keychain(accessGroup: accessGroup))
    }

    /// These, on whatever device. For tests.
    package static func items(_ items: any SecretItems) -> KeySource { KeySource(place: .items(items)) }
}
