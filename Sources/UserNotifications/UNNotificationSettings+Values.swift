/// Whether the app may show notifications (Apple, UNAuthorizationStatus).
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum UNAuthorizationStatus: Int, Sendable {
    case notDetermined = 0
    case denied = 1
    case authorized = 2
    case provisional = 3
    case ephemeral = 4
}

/// One switch of the settings (Apple, UNNotificationSetting).
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum UNNotificationSetting: Int, Sendable {
    case notSupported = 0
    case disabled = 1
    case enabled = 2
}

/// How an alert is shown (Apple, UNAlertStyle).
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum UNAlertStyle: Int, Sendable {
    case none = 0
    case banner = 1
    case alert = 2
}

/// When a notification's text is shown (Apple, UNShowPreviewsSetting).
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum UNShowPreviewsSetting: Int, Sendable {
    case always = 0
    case whenAuthenticated = 1
    case never = 2
}
