/// The reason why a store couldn't return keys.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum KeyStoreError: Error, Equatable, Sendable {
    /// The device hasn't been unlocked since it started. Try again later.
    case locked
    /// Any other error. The text describes it without any secret.
    case unavailable(String)
}
