/// How an action behaves (Apple, UNNotificationActionOptions).
public struct UNNotificationActionOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Only on an unlocked device.
    public static var authenticationRequired: UNNotificationActionOptions { .init(rawValue: 1 << 0) }
    /// Shown as destructive.
    public static var destructive: UNNotificationActionOptions { .init(rawValue: 1 << 1) }
    /// Opens the app.
    public static var foreground: UNNotificationActionOptions { .init(rawValue: 1 << 2) }
}
