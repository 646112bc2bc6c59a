package import SealedPush

/// The recipients of a message.
public enum Audience: Hashable, Sendable {
    /// One device.
    case device(DeviceName)
    /// All devices of one user, in one transaction.
    case user(UserName)
    /// All devices of the sealer's app.
    case everyone
}

/// The text that is stored with a request, for telling whether a repeated one has the same audience.
extension Audience {
    package func text(_ topic: Topic) -> String {
        switch self {
        case .device(let name): "\(Self.device)\(name) of \(topic)"
        case .user(let name): "user \(name) of \(topic)"
        case .everyone: "everyone of \(topic)"
        }
    }

    /// The text before a device's name. Callers of `sealed_push.enqueue` don't name the app, so their text ends after the name.
    package static let device = "device "

    /// Returns every text that stands for a device of this app alone. The name may be one that can't be registered.
    static func texts(ofDevice name: String, _ topic: Topic) -> [String] {
        ["\(device)\(name)", "\(device)\(name) of \(topic)"]
    }
}
