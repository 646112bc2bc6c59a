import SealedPush

/// What is shown for one push, made of opened content or of the safe default alone. Source: Specification 6.6.
enum Presentation: Sendable {
    case opened(NotificationDraft)
    /// The envelope is kept only where the device was locked, so that the app can open it after unlock.
    case safeDefault(SafeDefault, reason: OpenError, envelope: String? = nil)
    /// A push that was never sealed, in an app that has said that it gets such.
    case plain

    /// Nil where it opened, or was never sealed.
    var reason: OpenError? {
        switch self {
        case .opened, .plain: nil
        case .safeDefault(_, let reason, _): reason
        }
    }
}
