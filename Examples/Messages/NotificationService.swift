import Foundation
import PushService

/// The notification service of a messenger: shows who wrote what, or "You have a new message!" if the push doesn't open.
nonisolated final class NotificationService: SealedNotificationService {
    override var configuration: ServiceConfiguration {
        ServiceConfiguration(
            group: "group.com.example",
            trusting: ["pushsender14tr562hekmdndg9w3nzv9222vhpqdve2xpl86fsduus5hr7vvyfs4f33c2"],
            safeDefault: String(localized: "You have a new message!")
        )
    }
}
