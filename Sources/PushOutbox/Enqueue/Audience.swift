/// Whom a message goes to.
public enum Audience: Hashable, Sendable {
    case device(DeviceName)
    /// All devices of one user, in one transaction.
    case user(UserName)
    /// All devices of the sealer's app.
    case everyone

    /// For telling whether a request is repeated for the same ones.
    var text: String {
        switch self {
        case .device(let name): "device \(name)"
        case .user(let name): "user \(name)"
        case .everyone: "everyone"
        }
    }
}
