import Foundation
import PushCharts
import PushService
import SealedPush

/// A fitness app's notification service: the server seals numbers, the phone draws them.
///
/// The text of the message is ready before the drawing begins, and is shown without a picture whenever that fails or takes
/// too long.
nonisolated final class NotificationService: SealedNotificationService {
    override var configuration: ServiceConfiguration {
        ServiceConfiguration(
            topic: "com.example.app",
            keys: .keychain(accessGroup: "ABCDE12345.com.example.shared"),
            trusting: ["pushsender14tr562hekmdndg9w3nzv9222vhpqdve2xpl86fsduus5hr7vvyfs4f33c2"],
            safeDefault: SafeDefault(body: String(localized: "There is news about your training.")),
            container: .appGroup("group.com.example"),
            stages: [ChartStage()]
        )
    }
}
