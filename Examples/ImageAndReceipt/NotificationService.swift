import Foundation
import PushService
import SealedPush

/// A photo app's notification service: one sealed picture, a text of the app's own under it, and word to the server that it
/// was shown.
///
/// The title is ready before the download begins, and the server is told after the picture, or its absence, is on the screen.
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
