import UserNotifications

/// An extension in the shape of Xcode's template: two stored properties, both overrides.
final class NotificationService: UNNotificationServiceExtension {
    var contentHandler: ((UNNotificationContent) -> Void)?
    var bestAttemptContent: UNMutableNotificationContent?

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        self.contentHandler = contentHandler
        bestAttemptContent = (request.content.mutableCopy() as? UNMutableNotificationContent)

        if let bestAttemptContent {
            bestAttemptContent.title = "\(bestAttemptContent.title) [modified]"
            if bestAttemptContent.categoryIdentifier != "slow" { contentHandler(bestAttemptContent) }
        }
    }

    override func serviceExtensionTimeWillExpire() {
        if let contentHandler, let bestAttemptContent { contentHandler(bestAttemptContent) }
    }
}

/// An extension that works on in a task, with the hand-over that Swift 6 mode asks for.
final class AsyncNotificationService: UNNotificationServiceExtension {
    override init() { super.init() }

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        nonisolated(unsafe) let deliver = contentHandler
        nonisolated(unsafe) let content = request.content
        Task {
            await Task.yield()
            let changed = UNMutableNotificationContent()
            changed.title = content.title
            changed.body = content.userInfo["text"] as? String ?? "?"
            deliver(changed)
        }
    }
}
