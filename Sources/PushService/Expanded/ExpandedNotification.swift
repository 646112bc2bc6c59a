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
    public func attachment(_ identifier: String) -> Attachment? {
        attachments.first { $0.identifier == identifier }
    }

    /// A file that the system keeps with the notification.
    public struct Attachment: Hashable, Sendable {
        public let identifier: String
        /// To be read in ``withFile(_:)`` only: it is in the system's own store.
        public let file: URL
        /// The uniform type identifier, such as `public.png`.
        public let type: String
        /// Where it came from, where it was fetched: for a larger version, or to go on playing.
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
