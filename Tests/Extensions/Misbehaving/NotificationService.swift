import Foundation
import Glibc
import UserNotifications

/// An extension that does what the alert's body tells it: everything an extension should not do.
final class NotificationService: UNNotificationServiceExtension, @unchecked Sendable {
    /// Set where the handler is to be called when time is up.
    private var lateHandler: ((UNNotificationContent) -> Void)?

    override func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        print("a line on standard output, where the simulator expects answers")
        let content = UNMutableNotificationContent()
        content.body = "from the extension"
        switch request.content.body {
        case "crash": abort()
        case "exit": exit(0)
        case "hang": while true { sleep(1) }
        case "never": break
        case "empty": contentHandler(UNNotificationContent())
        case "twice":
            contentHandler(content)
            contentHandler(UNNotificationContent())
        case "late": lateHandler = contentHandler
        case let what where what.hasPrefix("attach "):
            content.attachments = Attaching(request).attachments(String(what.dropFirst(7)))
            contentHandler(content)
        default: contentHandler(content)
        }
    }

    override func serviceExtensionTimeWillExpire() {
        let content = UNMutableNotificationContent()
        content.body = "at the last moment"
        lateHandler?(content)
    }
}
