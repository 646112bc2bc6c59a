/// How the notifications of a category are handled (Apple, UNNotificationCategoryOptions).
public struct UNNotificationCategoryOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Dismissing is a response, too.
    public static var customDismissAction: UNNotificationCategoryOptions { .init(rawValue: 1 << 0) }
    /// Also shown in CarPlay.
    public static var allowInCarPlay: UNNotificationCategoryOptions { .init(rawValue: 1 << 1) }
    /// The title is shown even when previews are hidden.
    public static var hiddenPreviewsShowTitle: UNNotificationCategoryOptions { .init(rawValue: 1 << 2) }
    /// The subtitle is shown even when previews are hidden.
    public static var hiddenPreviewsShowSubtitle: UNNotificationCategoryOptions { .init(rawValue: 1 << 3) }
    /// Siri may read the notification.
    @available(iOS, deprecated: 15.0)
    public static var allowAnnouncement: UNNotificationCategoryOptions { .init(rawValue: 1 << 4) }
}
