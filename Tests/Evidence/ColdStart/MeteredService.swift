import Foundation
import PushService
import UserNotifications

/// A messenger's extension, such as the one in Examples/Messages, that measures its first message.
final class MeteredService: SealedNotificationService {
    private let sender: String
    private let meter: CostMeter
    private let report: URL

    init(trusting sender: String, _ meter: CostMeter, reportingTo path: String) {
        self.sender = sender
        self.meter = meter
        report = URL(filePath: path)
    }

    override var configuration: ServiceConfiguration {
        ServiceConfiguration(
            group: "group.com.example", trusting: [sender], safeDefault: "You have a new message!")
    }

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        meter.begin(.opening)
        SystemLog.observe { [meter] step in
            switch step {
            case .opening:
                return { meter.begin(.display) }
            case .readingKeys:
                let outer = meter.begin(.keys)
                return { meter.begin(outer) }
            case .recording:
                let outer = meter.begin(.ledger)
                return { meter.begin(outer) }
            case .stage: return {}
            }
        }
        super.didReceive(request) { [meter, report] content in
            let costs = meter.finish()
            contentHandler(content)
            // Without this file, the benchmark fails.
            try? JSONEncoder().encode(costs).write(to: report)
        }
    }
}
