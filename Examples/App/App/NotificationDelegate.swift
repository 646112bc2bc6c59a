import Foundation
import PushService
import UserNotifications

/// With completion handlers, not `async`: UIKit wants them called on the main thread.
nonisolated final class NotificationDelegate: NSObject, UNUserNotificationCenterDelegate, Sendable {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        let sealed = SealedNotification(userInfo: response.notification.request.content.userInfo)
        // Only handed on, and called once.
        nonisolated(unsafe) let done = completionHandler
        Task { @MainActor in
            Pushes.shared.tapped(sealed)
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
