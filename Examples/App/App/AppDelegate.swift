import PushService
import UIKit
import UserNotifications

/// Receives the system's callbacks about pushes; `Pushes` does the rest.
@MainActor final class AppDelegate: NSObject, UIApplicationDelegate {
    private let notifications = NotificationDelegate()

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]? = nil
    ) -> Bool {
        // Set before the app finishes launching; otherwise, the tap that launched it is missed.
        UNUserNotificationCenter.current().delegate = notifications
        Pushes.shared.register = { UIApplication.shared.registerForRemoteNotifications() }
        Pushes.shared.unregister = { UIApplication.shared.unregisterForRemoteNotifications() }
        Pushes.shared.planRefresh()
        Task { await Pushes.shared.launched() }
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
        // No network, or no Push Notifications capability. The next launch tries again.
        Pushes.shared.tookNoToken(error)
    }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult {
        // Don't trust the rest of the user info: it isn't authenticated.
        await Pushes.shared.withdraw(userInfo["custom-encrypted-message"] as? String) ? .newData : .noData
    }

    func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication) {
        Task { await Pushes.shared.openWhatWasLocked() }
    }
}
