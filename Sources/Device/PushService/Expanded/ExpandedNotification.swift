public import Foundation
public import SealedPush
public import UserNotifications

/// A notification that a content extension received and that the service module opened.
///
/// For `didReceive(_:)` of an app's `UNNotificationContentExtension`. Needs no UIKit, so that views can be tested anywhere.
public struct ExpandedNotification: Sendable {
    /// The request's identifier.
    public let identifier: String
    /// The category, by which the system chooses the app's view.
    public let category: String
    /// The title.
    public let title: String
    /// The subtitle.
    public let subtitle: String
    /// The body.
    public let body: String
    /// The attachments, in order.
    public let attachments: [Attachment]
    /// The app's own data, as the sender sealed it or a stage left it.
    public let data: JSONValue?
    /// The time of delivery.
    public let date: Date
    /// The service module's other information about the notification.
    public let sealed: SealedNotification

    /// Reads a notification; nil if the service module didn't open it. A carrier can use any category in a push that
    /// doesn't wake an extension; don't show its text as yours. Source: DeviceState 31.2 and 31.3.
    ///
    /// - Parameter configuration: The app's; with it, whatever else the system adds to user info is ignored.
    public init?(_ notification: UNNotification, by configuration: ServiceConfiguration? = nil) {
        let content = notification.request.content
        let seal = configuration?.seal ?? NotificationSeal(in: nil)
        guard let sealed = SealedNotification(userInfo: content.userInfo, seal), sealed.reason == nil else {
            return nil
        }
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

    /// Returns the attachment to which a stage or the sender gave this identifier.
    public func attachment(_ identifier: String) -> Attachment? { attachments.first { $0.identifier == identifier } }

    /// A file that the system keeps with the notification.
    public struct Attachment: Hashable, Sendable {
        /// The identifier that a stage or the sender gave it.
        public let identifier: String
        /// The file in the system's own store; read it only in ``withFile(_:)``.
        public let file: URL
        /// The uniform type identifier, such as `public.png`.
        public let type: String
        /// The URL it was fetched from, for a larger version.
        public let remoteURL: URL?

        /// Lends the file while the closure runs. Source: Apple, `UNNotificationAttachment.url`: a security-scoped URL in a
        /// content extension.
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
