import PushService
import UIKit
import UserNotifications

/// What the system tells an app about pushes; `Pushes` does the rest.
@MainActor final class AppDelegate: NSObject, UIApplicationDelegate {
    private let notifications = NotificationDelegate()

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]? = nil
    ) -> Bool {
        // Before the app has finished launching, or the tap that launched it is missed.
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
        // No network, or no capability Push Notifications: the next launch tries again.
        Pushes.shared.tookNoToken(error)
    }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult {
        // The rest of the user info is the carrier's: none of it is believed.
        await Pushes.shared.withdraw(userInfo["custom-encrypted-message"] as? String) ? .newData : .noData
    }

    func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication) {
        Task { await Pushes.shared.openWhatWasLocked() }
    }
}
