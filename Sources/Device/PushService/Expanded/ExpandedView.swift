/// The content of an expanded notification: the half of a `UNNotificationContentExtension` that doesn't need UIKit.
///
/// ```swift
/// struct StoryView: ExpandedView {
///     let categories = ["story"]
///
///     func rows(for notification: ExpandedNotification) -> [ExpandedRow] {
///         [.text(notification.title)] + notification.attachments.map { .media($0) }
///     }
/// }
/// ```
/// The app's view controller shows the rows, and `device-simulator deliver … --expanded` prints them.
public protocol ExpandedView: Sendable {
    /// The categories, as in Info.plist under `UNNotificationExtensionCategory`.
    var categories: [String] { get }

    /// Returns the rows to show, from top to bottom. May be called more than once, while the user is waiting.
    func rows(for notification: ExpandedNotification) -> [ExpandedRow]
}
