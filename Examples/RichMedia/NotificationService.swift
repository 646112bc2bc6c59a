import Foundation
import PushService
import SealedPush

/// A news app's notification service: a story with its pictures, sound and movie, all of them encrypted.
///
/// All are fetched at once. What is there when time is up is shown; what is not, is left out; the text stands in any case.
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
