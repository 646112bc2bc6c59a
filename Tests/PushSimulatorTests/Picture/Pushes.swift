import Foundation
import TestSupport
import Testing
import UserNotifications

@testable import PushSimulator
@testable import device_simulator

/// What a device has shown, made up.
enum Pushes {
    static func shown(
        _ title: String = "Nina", subtitle: String = "", _ body: String = "Lunch at one?", thread: String = "",
        level: UNNotificationInterruptionLevel = .active, attachments: [ShownAttachment] = []
    ) -> ShownNotification {
        let content = UNMutableNotificationContent()
        content.title = title
        content.subtitle = subtitle
        content.body = body
        content.threadIdentifier = thread
        content.interruptionLevel = level
        var shown = ShownNotification(content)
        shown.attachments = attachments
        return shown
    }

    static func delivery(
        _ shown: ShownNotification = shown(), _ outcome: DeliveredPush.Outcome = .opened, reason: String? = nil,
        note: String? = nil, name: String = "push.apns", identifier: String = UUID().uuidString
    ) -> LockScreenPicture.Delivery {
        LockScreenPicture.Delivery(
            name: name, identifier: identifier,
            push: DeliveredPush(outcome: outcome, shown: shown, reason: reason, note: note))
    }

    static func nothing(_ note: String) -> LockScreenPicture.Delivery {
        LockScreenPicture.Delivery(name: "push.apns", identifier: "nothing", push: DeliveredPush(notShownBecause: note))
    }

    static func attachment(_ file: URL, type: String = "public.png") -> ShownAttachment {
        ShownAttachment(
            identifier: "a", type: type, file: file, name: file.lastPathComponent, byteCount: 1,
            thumbnail: ShownAttachment.Thumbnail())
    }

    static func scene(_ deliveries: [LockScreenPicture.Delivery]) -> Scene { Scene(deliveries, appName: "App") }
}
