import Foundation
import PushService

/// The notification service of a news app: a story with its pictures, sound, and movie, all encrypted.
///
/// All files are fetched concurrently. When time is up, the notification shows the text and the files that have arrived.
nonisolated final class NotificationService: SealedNotificationService {
    override var configuration: ServiceConfiguration {
        ServiceConfiguration(
            group: "group.com.example",
            trusting: ["pushsender14tr562hekmdndg9w3nzv9222vhpqdve2xpl86fsduus5hr7vvyfs4f33c2"],
            safeDefault: String(localized: "There is news."),
            stages: [OverflowStage(), MediaStage()]
        )
    }
}
