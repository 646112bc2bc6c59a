import Foundation
import PushService
import SealedPush

/// The notification service of a photo app: one sealed picture with the app's own text, and a receipt for the server.
///
/// The title is ready before the download begins. The receipt is sent after the notification is shown, with or without the
/// picture.
nonisolated final class NotificationService: SealedNotificationService {
    override var configuration: ServiceConfiguration {
        ServiceConfiguration(
            topic: "com.example.app",
            keys: .keychain(accessGroup: "ABCDE12345.com.example.shared"),
            trusting: ["pushsender14tr562hekmdndg9w3nzv9222vhpqdve2xpl86fsduus5hr7vvyfs4f33c2"],
            safeDefault: SafeDefault(body: String(localized: "You have a new picture!")),
            container: .appGroup("group.com.example"),
            stages: [
                DefaultBodyStage(String(localized: "Touch and hold to see it.")),
                MediaStage(),
                ReceiptStage(hosts: ["push.example.com"]),
            ]
        )
    }
}
