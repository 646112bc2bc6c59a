/// What an app asks to be allowed (Apple, UNAuthorizationOptions).
public struct UNAuthorizationOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// A number on the app's icon.
    public static var badge: UNAuthorizationOptions { .init(rawValue: 1 << 0) }
    /// Sounds.
    public static var sound: UNAuthorizationOptions { .init(rawValue: 1 << 1) }
    /// Alerts.
    public static var alert: UNAuthorizationOptions { .init(rawValue: 1 << 2) }
    /// Notifications in CarPlay.
    public static var carPlay: UNAuthorizationOptions { .init(rawValue: 1 << 3) }
    /// Alerts that are heard on a muted device.
    public static var criticalAlert: UNAuthorizationOptions { .init(rawValue: 1 << 4) }
    /// The app shows its own notification settings.
    public static var providesAppNotificationSettings: UNAuthorizationOptions { .init(rawValue: 1 << 5) }
    /// Quiet notifications, without asking the person.
    public static var provisional: UNAuthorizationOptions { .init(rawValue: 1 << 6) }
    /// Siri may read notifications.
    @available(iOS, deprecated: 15.0)
    public static var announcement: UNAuthorizationOptions { .init(rawValue: 1 << 7) }
    /// Time-sensitive notifications.
    @available(iOS, deprecated: 15.0)
    public static var timeSensitive: UNAuthorizationOptions { .init(rawValue: 1 << 8) }
}
