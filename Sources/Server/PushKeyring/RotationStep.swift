/// A step that is due for a keyring's keys, by the intervals of Specification 13.
public struct RotationStep: Hashable, Sendable {
    /// The name of the key.
    public let name: KeyName
    /// The key that changes, or the one to replace.
    public let key: AnyPublicKey
    /// The action to take.
    public let act: Act

    /// The action of a step.
    public enum Act: String, Sendable {
        /// The key is old, so a new one is made beside it.
        case rotate
        /// The key was retired 31 days ago, so its secret is destroyed.
        case erase
        /// The device's record expires within 60 days, so a new one is signed.
        case renew
    }
}
