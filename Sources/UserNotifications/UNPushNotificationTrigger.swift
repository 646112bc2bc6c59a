public import Foundation

/// The trigger of every remote notification; only the system makes one (Apple, UNPushNotificationTrigger).
public final class UNPushNotificationTrigger: UNNotificationTrigger {
    /// Makes the trigger of a request that came through APNs.
    package init() {
        super.init(repeats: false)
    }

    public required init?(coder: NSCoder) {
        super.init(coder: coder)
    }
}
