/// What an app shows where a person expands a notification: the half of a `UNNotificationContentExtension` that is not UIKit.
///
/// ```swift
/// struct StockView: ExpandedView {
///     let categories = ["stock"]
///     let initialSizeRatio = 0.5
///     let hidesDefaultContent = true
///     let actions = [ExpandedAction("mute", title: "Mute for today", isDestructive: true)]
///
///     func rows(for notification: ExpandedNotification) -> [ExpandedRow] {
///         [.heading(notification.title)] + notification.attachments.map { .picture($0) }
///     }
/// }
/// ```
/// The app's view controller shows the rows, and `device-simulator deliver … --expanded` prints them.
public protocol ExpandedView: Sendable {
    /// As in Info.plist: `UNNotificationExtensionCategory`.
    var categories: [String] { get }
    /// The height at first, in widths; `UNNotificationExtensionInitialContentSizeRatio`. 1 unless the app says otherwise.
    var initialSizeRatio: Double { get }
    /// Whether the system's own title and body are left out; `UNNotificationExtensionDefaultContentHidden`. False unless the
    /// app says otherwise.
    var hidesDefaultContent: Bool { get }
    /// The buttons below, for each of the categories. None unless the app says otherwise.
    var actions: [ExpandedAction] { get }

    /// What is shown, from top to bottom. May be called more than once; a person is waiting.
    func rows(for notification: ExpandedNotification) -> [ExpandedRow]

    /// A person has chosen a button. Unless the app says otherwise, the app itself gets it.
    func perform(_ response: ExpandedResponse, on notification: ExpandedNotification) async -> ExpandedAnswer
}

extension ExpandedView {
    public var initialSizeRatio: Double { 1 }
    public var hidesDefaultContent: Bool { false }
    public var actions: [ExpandedAction] { [] }

    public func perform(_ response: ExpandedResponse, on notification: ExpandedNotification) async -> ExpandedAnswer {
        .dismissAndForward
    }
}

/// One row of an expanded notification.
public enum ExpandedRow: Hashable, Sendable {
    case heading(String)
    case text(String)
    /// Names and values, in two columns.
    case facts([Fact])
    /// An image attachment, a chart (`chart`) among them, as wide as the view.
    case picture(ExpandedNotification.Attachment)
    /// An audio or movie attachment, with a button to play it.
    case player(ExpandedNotification.Attachment)

    public struct Fact: Hashable, Sendable {
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }
}

/// What follows an action.
public enum ExpandedAnswer: Hashable, Sendable {
    /// The notification stays open, with these rows.
    case show([ExpandedRow])
    case dismiss
    /// The notification is dismissed, and the app's `userNotificationCenter(_:didReceive:)` gets the action.
    case dismissAndForward
}
