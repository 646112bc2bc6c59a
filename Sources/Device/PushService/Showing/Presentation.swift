import SealedPush

/// The presentation of one push, made from opened content or from the safe default alone. Source: DeviceState 31.1.
enum Presentation: Sendable {
    case opened(NotificationDraft)
    /// The envelope is kept only if the device was locked, so that the app can open it after unlock.
    case safeDefault(SafeDefault, reason: OpenError, envelope: String? = nil, owner: Owner? = nil)
    /// A push that was never sealed, in an app that accepts such pushes.
    case plain
    /// Removes other notifications, and shows none.
    case withdrawal(OpenedContent, isRepeat: Bool, owner: Owner)

    /// Nil if the push opened, or was never sealed.
    var reason: OpenError? {
        switch self {
        case .opened, .plain, .withdrawal: nil
        case .safeDefault(_, let reason, _, _): reason
        }
    }

    /// The account to which the message belongs; for a safe default, the one account whose key matches. Nil if it isn't known.
    var owner: Owner? {
        switch self {
        case .opened(let draft): draft.owner
        case .safeDefault(_, _, _, let owner): owner
        case .withdrawal(_, _, let owner): owner
        case .plain: nil
        }
    }
}
