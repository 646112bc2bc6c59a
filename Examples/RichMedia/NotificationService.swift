import Foundation
import PushService
import SealedPush

/// The notification service of a news app: a story with its pictures, sound, and movie, all encrypted.
///
/// All files are fetched concurrently. When time is up, the notification shows the text and the files that have arrived.
nonisolated final class NotificationService: SealedNotificationService {
    override var configuration: ServiceConfiguration {
        ServiceConfiguration(
            topic: "com.example.app",
            keys: .keychain(accessGroup: "ABCDE12345.com.example.shared"),
            trusting: ["pushsender14tr562hekmdndg9w3nzv9222vhpqdve2xpl86fsduus5hr7vvyfs4f33c2"],
            safeDefault: SafeDefault(body: String(localized: "There is news.")),
            container: .appGroup("group.com.example"),
            stages: [OverflowStage(), MediaStage()]
        )
    }
}
