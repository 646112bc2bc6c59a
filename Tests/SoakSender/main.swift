import EndToEnd
import Foundation
import Logging
import Metrics
import PushAPNS
import PushOutbox
import PushSender
import SealedPush

// A server in miniature, to be killed: enqueues messages that were not acknowledged yet, each under a key of its own, and
// delivers at the same time; ends when nothing waits any more.
// Usage: soak-sender FOLDER [ANSWERS]   Kills itself when APNs has accepted so many pushes, before the outbox learns of it.
let arguments = CommandLine.arguments
guard arguments.count >= 2 else { exit(64) }
let folder = RunFolder(URL(filePath: arguments[1]))
let plan = try folder.readPlan()

// All there is to say is said, to files that are searched afterwards.
let log = Lines(folder.senderLog.path(percentEncoded: false))
LoggingSystem.bootstrap { label in LineLog(label: label, lines: log) }
MetricsSystem.bootstrap(LineMetrics(Lines(folder.senderMetrics.path(percentEncoded: false))))

let address = try ServerAddress(inFolder: folder.apns)
let apns = try address.transport(plan)
let transport = MortalTransport(apns, dyingAfter: arguments.count > 2 ? Int(arguments[2]) : nil)
let outbox = try Outbox(at: folder.outbox.path(percentEncoded: false))
let limits = CourierLimits(
    inFlightCount: plan.patience.inFlightCount, lease: .milliseconds(plan.patience.lease),
    pollInterval: .milliseconds(20), delays: RetryDelays().scaled(by: plan.patience.delayFactor))
let courier = Courier(for: outbox, through: transport, carrier: .apns(.sandbox), limits: limits)
let enqueuing = try Enqueuing(plan, folder, into: outbox)

try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask { _ = try await courier.run() }
    group.addTask {
        try await enqueuing.run()
        while try await outbox.status().waitingCount > 0 { try await Task.sleep(for: .milliseconds(50)) }
        await courier.stop()
    }
    while try await group.next() != nil {}
}
await apns.shutDown()
let report = await courier.report
print("accepted \(report.acceptedCount), retries \(report.retries), dropped \(report.dropped), dead \(report.dead)")
