import Foundation
import PushService
import UserNotifications

/// Uses completion handlers instead of `async`, because UIKit expects them on the main thread.
nonisolated final class NotificationDelegate: NSObject, UNUserNotificationCenterDelegate, Sendable {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        // Both are only passed on, and the handler is called once.
        nonisolated(unsafe) let (notification, done) = (response.notification, completionHandler)
        Task { @MainActor in
            await Pushes.shared.tapped(notification)
            done()
        }
    }

    /// Shows pushes while the app is open, too. A notification that the app itself added goes only into the list.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        let isPush = notification.request.trigger is UNPushNotificationTrigger
        completionHandler(isPush ? [.banner, .list, .sound, .badge] : [.list])
    }
}
