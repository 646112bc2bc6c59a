import Foundation
import PushService

/// The notification service of a photo app: one sealed picture with the app's own text, and a receipt for the server.
///
/// The title is ready before the download begins. The receipt is sent after the notification is shown, with or without the
/// picture.
nonisolated final class NotificationService: SealedNotificationService {
    override var configuration: ServiceConfiguration {
        ServiceConfiguration(
            group: "group.com.example",
            trusting: ["pushsender14tr562hekmdndg9w3nzv9222vhpqdve2xpl86fsduus5hr7vvyfs4f33c2"],
            safeDefault: String(localized: "You have a new picture!"),
            stages: [
                DefaultBodyStage(String(localized: "Touch and hold to see it.")),
                MediaStage(),
                ReceiptStage(hosts: ["push.example.com"]),
            ]
        )
    }
}
