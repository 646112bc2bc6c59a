/// A step that is due for a keyring's keys, by the intervals of Specification 13.
public struct RotationStep: Hashable, Sendable {
    public let name: KeyName
    public let key: AnyPublicKey
    public let act: Act

    public enum Act: String, Sendable {
        /// The key is old, so a new one is made beside it.
        case rotate
        /// The key was retired 31 days ago, so its secret is destroyed.
        case erase
        /// The device's record expires within 60 days, so a new one is signed.
        case renew
    }
}
