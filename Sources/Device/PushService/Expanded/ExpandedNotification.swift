public import Foundation
public import SealedPush
public import UserNotifications

/// A notification as a content extension gets it, opened by the service module and by nobody else.
///
/// For `didReceive(_ notification:)` of an app's `UNNotificationContentExtension`. A value without UIKit, so that what a view
/// makes of it can be tested anywhere.
public struct ExpandedNotification: Sendable {
    /// The request's.
    public let identifier: String
    /// The category, by which the system chooses the app's view.
    public let category: String
    public let title: String
    public let subtitle: String
    public let body: String
    /// In their order.
    public let attachments: [Attachment]
    /// The app's own data, as the sender sealed it or a stage left it.
    public let data: JSONValue?
    /// When it was delivered.
    public let date: Date
    /// What else the service module says about it.
    public let sealed: SealedNotification

    /// Nil for a push that was not opened by the service module: a carrier can name any category in a push that wakes no
    /// extension, and its text is not to be shown as yours. Source: Specification 6.7.
    public init?(_ notification: UNNotification) {
        let content = notification.request.content
        guard let sealed = SealedNotification(userInfo: content.userInfo), sealed.reason == nil else { return nil }
        self.sealed = sealed
        identifier = notification.request.identifier
        category = content.categoryIdentifier
        title = content.title
        subtitle = content.subtitle
        body = content.body
        attachments = content.attachments.map { attachment in
            Attachment(
                identifier: attachment.identifier, file: attachment.url, type: attachment.type,
                remoteURL: sealed.attachmentURLs[attachment.identifier])
        }
        data = sealed.data
        date = notification.date
    }

    /// The attachment that a stage or the sender has called so.
    public func attachment(_ identifier: String) -> Attachment? { attachments.first { $0.identifier == identifier } }

    /// A file that the system keeps with the notification.
    public struct Attachment: Hashable, Sendable {
        public let identifier: String
        /// To be read in ``withFile(_:)`` only: it is in the system's own store.
        public let file: URL
        /// The uniform type identifier, such as `public.png`.
        public let type: String
        /// Where it was fetched from, for a larger version.
        public let remoteURL: URL?

        /// Lends the file for as long as the closure runs.
        ///
        /// Source: Apple, `UNNotificationAttachment.url`: a security-scoped URL in a content extension.
        public func withFile<Result, Failure: Error>(
            _ read: (URL) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            #if canImport(Darwin)
                let isScoped = file.startAccessingSecurityScopedResource()
                defer { if isScoped { file.stopAccessingSecurityScopedResource() } }
            #endif
            return try read(file)
        }
    }
}

/// What an app shows when a person expands a notification: the half of a `UNNotificationContentExtension` that is not UIKit.
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
    /// As in Info.plist: `UNNotificationExtensionCategory`.
    var categories: [String] { get }

    /// What is shown, from top to bottom. May be called more than once; a person is waiting.
    func rows(for notification: ExpandedNotification) -> [ExpandedRow]
}

/// One row of an expanded notification.
public enum ExpandedRow: Hashable, Sendable {
    case text(String)
    /// An image as wide as the view, or a player for sound and movies.
    case media(ExpandedNotification.Attachment)
}
