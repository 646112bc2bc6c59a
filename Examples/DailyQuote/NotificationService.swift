import Foundation
import PushService
import SealedPush

/// The notification service of an app with a quote for each day: the server says when, and only the device knows which.
///
/// The app leaves the quote in the shared container, and the extension puts it into the text.
nonisolated final class NotificationService: SealedNotificationService {
    override var configuration: ServiceConfiguration {
        ServiceConfiguration(
            topic: "com.example.app",
            keys: .keychain(accessGroup: "ABCDE12345.com.example.shared"),
            trusting: ["pushsender14tr562hekmdndg9w3nzv9222vhpqdve2xpl86fsduus5hr7vvyfs4f33c2"],
            safeDefault: SafeDefault(body: String(localized: "Your quote for today is here.")),
            container: .appGroup("group.com.example"),
            stages: [PlaceholderStage(fallback: String(localized: "Your quote for today is here."))]
        )
    }
}
