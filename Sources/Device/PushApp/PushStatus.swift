public import PushService

/// The state of an app's pushes, in ``SealedPushes/status``. Contains no secrets.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum PushStatus: Equatable, Sendable {
    /// It isn't known yet whether someone is logged in.
    case starting
    /// Nobody is logged in.
    case loggedOut
    /// Someone is logged in, and the system hasn't given the app a token yet.
    case waitingForToken
    /// The system has no token, for this reason in the user's language. The next launch asks again.
    case noToken(String)
    /// The server has the token and the keys of this device, under this name. `isOverdue` if a new key has waited for a message
    /// for more than 45 days, so the server probably seals to old keys.
    case registered(device: String?, isOverdue: Bool)
    /// The first step of the registration that failed. The next launch or refresh does the rest.
    case notRegistered(PushRegistration.Problem)
    /// An account was left, but its server couldn't be told. If the error is a temporary one, the next launch tries again.
    case unfinishedLogout(PushServerError)
    /// The login can't be kept, because the keychain or the app's own storage failed. Nobody was logged in or out.
    case notSaved
    /// The configuration trusts no valid key of a sender, so every message ends as `unknown-sender`. Console has the reason.
    case noSender
    /// The server's URL is missing or invalid.
    case noServer
}

extension PushStatus: CustomStringConvertible {
    /// One sentence in English, for developers and testers.
    public var description: String {
        switch self {
        case .starting: "Starting."
        case .loggedOut: "Nobody is logged in."
        case .waitingForToken: "Logged in; waiting for a push token."
        case .noToken(let reason): "No token: \(reason)"
        case .registered(let device, isOverdue: false): "Registered as \(device ?? "this device")."
        case .registered(let device, isOverdue: true):
            "Registered as \(device ?? "this device"), but a new key has waited for a message for 45 days."
        case .notRegistered(let problem): "Not registered: \(problem)"
        case .unfinishedLogout(let error): "Logged out, but the server doesn't know: \(error)"
        case .notSaved: "The login can't be saved: the keychain failed."
        case .noSender: "The configuration has no valid sender key: every message ends as unknown-sender."
        case .noServer: "The server's URL is missing or invalid."
        }
    }
}
