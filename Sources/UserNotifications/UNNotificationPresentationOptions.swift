/// How a notification is shown while its app is in front (Apple, UNNotificationPresentationOptions).
public struct UNNotificationPresentationOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Sets the number on the app's icon.
    public static var badge: UNNotificationPresentationOptions { .init(rawValue: 1 << 0) }
    /// Plays the sound.
    public static var sound: UNNotificationPresentationOptions { .init(rawValue: 1 << 1) }
    /// Shows the alert.
    @available(iOS, deprecated: 14.0, message: "Use list and banner")
    public static var alert: UNNotificationPresentationOptions { .init(rawValue: 1 << 2) }
    /// Adds it to Notification Center.
    public static var list: UNNotificationPresentationOptions { .init(rawValue: 1 << 3) }
    /// Shows the banner.
    public static var banner: UNNotificationPresentationOptions { .init(rawValue: 1 << 4) }
}
