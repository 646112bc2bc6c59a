import Foundation
import PushService
import SealedPush

/// The notification service of a messenger: shows who wrote what, or "You have a new message!" if the push doesn't open.
nonisolated final class NotificationService: SealedNotificationService {
    override var configuration: ServiceConfiguration {
        ServiceConfiguration(
            topic: "com.example.app",
            keys: .keychain(accessGroup: "ABCDE12345.com.example.shared"),
            trusting: ["pushsender14tr562hekmdndg9w3nzv9222vhpqdve2xpl86fsduus5hr7vvyfs4f33c2"],
            safeDefault: SafeDefault(body: String(localized: "You have a new message!")),
            container: .appGroup("group.com.example")
        )
    }
}
