/// The recipients of a message.
public enum Audience: Hashable, Sendable {
    /// One device.
    case device(DeviceName)
    /// All devices of one user, in one transaction.
    case user(UserName)
    /// All devices of the sealer's app.
    case everyone
}
