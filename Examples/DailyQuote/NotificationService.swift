import Foundation
import PushService

/// The notification service of an app that shows a daily quote, which only the device knows.
///
/// The app writes the quote to the shared container, and the extension inserts it into the text.
nonisolated final class NotificationService: SealedNotificationService {
    override var configuration: ServiceConfiguration {
        ServiceConfiguration(
            group: "group.com.example",
            trusting: ["pushsender14tr562hekmdndg9w3nzv9222vhpqdve2xpl86fsduus5hr7vvyfs4f33c2"],
            safeDefault: String(localized: "Your quote for today is here."),
            stages: [PlaceholderStage(fallback: String(localized: "Your quote for today is here."))]
        )
    }
}
