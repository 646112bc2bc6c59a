import Foundation
import PushCharts
import PushService

/// The notification service of a fitness app: the server seals numbers, and the phone draws them.
///
/// The text is ready before the drawing begins. If drawing fails or takes too long, the text is shown without a picture.
nonisolated final class NotificationService: SealedNotificationService {
    override var configuration: ServiceConfiguration {
        ServiceConfiguration(
            group: "group.com.example",
            trusting: ["pushsender14tr562hekmdndg9w3nzv9222vhpqdve2xpl86fsduus5hr7vvyfs4f33c2"],
            safeDefault: String(localized: "There is news about your training."),
            stages: [ChartStage()]
        )
    }
}
