import PushService
import UserNotifications

#if os(macOS)
    import AppKit
#else
    import UIKit
#endif

/// What the system tells an app about pushes; `Pushes` does the rest.
@MainActor final class AppDelegate: NSObject {
    private let notifications = NotificationDelegate()

    /// Before the app has finished launching, or the tap that launched it is missed.
    private func launched(registering register: @escaping () -> Void) {
        UNUserNotificationCenter.current().delegate = notifications
        Pushes.shared.register = register
        Pushes.shared.planRefresh()
        register()
    }
}

#if os(macOS)
    extension AppDelegate: NSApplicationDelegate {
        func applicationDidFinishLaunching(_ notification: Notification) {
            launched { NSApplication.shared.registerForRemoteNotifications() }
        }

        func application(
            _ application: NSApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
        ) {
            Task { await Pushes.shared.took(token: deviceToken) }
        }

        func application(
            _ application: NSApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
        ) {
            Pushes.shared.tookNoToken(error)
        }
    }
#else
    extension AppDelegate: UIApplicationDelegate {
        func application(
            _ application: UIApplication,
            didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]? = nil
        ) -> Bool {
            launched { UIApplication.shared.registerForRemoteNotifications() }
            return true
        }

        func application(
            _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
        ) {
            Task { await Pushes.shared.took(token: deviceToken) }
        }

        func application(
            _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
        ) {
            // No network, or no capability Push Notifications: the next launch tries again.
            Pushes.shared.tookNoToken(error)
        }

        func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication) {
            Task { await Pushes.shared.openWhatWasLocked() }
        }
    }
#endif

/// With completion handlers, not `async`: UIKit wants them called on the main thread.
nonisolated final class NotificationDelegate: NSObject, UNUserNotificationCenterDelegate, Sendable {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        let request = response.notification.request
        let identifier = request.identifier
        let isRemote = request.trigger is UNPushNotificationTrigger
        let sealed = SealedNotification(userInfo: request.content.userInfo)
        // Only handed on, and called once.
        nonisolated(unsafe) let done = completionHandler
        Task { @MainActor in
            Pushes.shared.tapped(sealed, identifier, isRemote: isRemote)
            done()
        }
    }

    /// Shown while the app is open, too.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        completionHandler([.banner, .list, .sound, .badge])
    }
}
