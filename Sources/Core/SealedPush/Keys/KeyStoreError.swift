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

extension KeyStoreError: CustomStringConvertible {
    /// One sentence for the app's own log.
    public var description: String {
        switch self {
        case .locked: "the keys can't be read until the device has been unlocked once"
        case .unavailable(let text): text
        }
    }
}
