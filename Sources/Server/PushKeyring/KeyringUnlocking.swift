/// The source of a sealed keyring's secret.
public enum KeyringUnlocking: Sendable {
    /// This secret. A keyring that turns out not to be sealed is rejected.
    case given(KeyringSecret)
    /// A closure that is called when the secret is first needed, perhaps to prompt the user. It's called without a lock.
    case asking(@Sendable (KeyringSecret.Kind) throws(KeyringError) -> KeyringSecret)
}
