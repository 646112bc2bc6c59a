public import SealedPush

/// Where a device's keys are.
public enum KeySource: Sendable {
    /// Apple's keychain, in the access group that app and extension share, with the team's prefix
    /// (`ABCDE12345.com.example.shared`). In the simulator: the simulated device's keys.
    case keychain(accessGroup: String)
    /// A store of the app's own.
    case store(any KeyStore)
}
