#if os(iOS) || os(visionOS)
public import UIKit

/// An app's delegate that passes the system's four calls about pushes on to a ``SealedPushes``.
///
/// ```swift
/// final class AppDelegate: PushAppDelegate {
///     override var sealedPushes: SealedPushes { pushes }
/// }
/// ```
/// A SwiftUI app adds `@UIApplicationDelegateAdaptor(AppDelegate.self)`. A delegate that overrides one of the four methods calls
/// `super`. One that has another superclass makes the four calls itself; see ``SealedPushes``.
@MainActor open class PushAppDelegate: UIResponder, UIApplicationDelegate {
    /// The object that the app keeps. Must be overridden.
    open var sealedPushes: SealedPushes {
        preconditionFailure("override `sealedPushes` in your subclass of PushAppDelegate")
    }

    /// Starts the pushes.
    open func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
    ) -> Bool {
        sealedPushes.start()
        return true
    }

    /// Registers with a new token.
    open func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        sealedPushes.didRegister(deviceToken)
    }

    /// Notes that there is no token.
    open func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) {
        sealedPushes.didFailToRegister(error)
    }

    /// Handles a withdrawal.
    open func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult {
        await sealedPushes.didReceive(userInfo) ? .newData : .noData
    }
}
#endif
