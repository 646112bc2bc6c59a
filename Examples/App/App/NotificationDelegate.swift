import Foundation
import PushService
import UserNotifications

/// With completion handlers, not `async`: UIKit wants them called on the main thread.
nonisolated final class NotificationDelegate: NSObject, UNUserNotificationCenterDelegate, Sendable {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        // Only handed on; the handler is called once.
        nonisolated(unsafe) let (notification, done) = (response.notification, completionHandler)
        Task { @MainActor in
            await Pushes.shared.tapped(notification)
            done()
        }
    }

    /// Shown while the app is open, too; a notification that the app itself has put back, in the list alone.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        let isPush = notification.request.trigger is UNPushNotificationTrigger
        completionHandler(isPush ? [.banner, .list, .sound, .badge] : [.list])
    }
}
