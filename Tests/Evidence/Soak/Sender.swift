import EndToEnd
import Foundation
import Glibc
import Logging
import Metrics
import PushAPNs
import PushCore
import PushOutbox
import PushSender
import SealedPush

/// Runs a small server that is meant to be killed. It enqueues the messages that weren't acknowledged yet, each under its own
/// key, and delivers at the same time. It returns when no message is waiting.
///
/// - Parameter arguments: FOLDER [ANSWERS]. It kills itself once APNs accepted that many pushes, before the outbox records it.
func runSender(_ arguments: [String]) async throws {
    let folder = RunFolder(URL(filePath: arguments[0]))
    let plan = try folder.readPlan()

    // Log everything, to files that are searched afterward.
    let log = Lines(folder.senderLog.path(percentEncoded: false))
    LoggingSystem.bootstrap { label in LineLog(label: label, lines: log) }
    MetricsSystem.bootstrap(LineMetrics(Lines(folder.senderMetrics.path(percentEncoded: false))))

    let address = try ServerAddress(inFolder: folder.apns)
    let apns = try address.transport(plan)
    let transport = MortalTransport(apns, dyingAfter: arguments.count > 1 ? Int(arguments[1]) : nil)
    let outbox = try Outbox(at: folder.outbox.path(percentEncoded: false))
    var limits = CourierLimits(
        inFlightCount: plan.patience.inFlightCount, lease: .milliseconds(plan.patience.lease),
        pollInterval: .milliseconds(20))
    limits.delayFactor = plan.patience.delayFactor
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
    print(
        "accepted \(report.acceptedCount), deferred \(report.deferred), dropped \(report.dropped), refused \(report.refused)"
    )
}

/// Enqueues the unacknowledged messages from several tasks at once, and records the number of each when it is stored.
final class Enqueuing: Sendable {
    private let plan: RunPlan
    private let folder: RunFolder
    private let outbox: Outbox
    private let sealer: Sealer
    private let acknowledged: Lines
    private let remaining: Locked<ArraySlice<Int>>

    init(_ plan: RunPlan, _ folder: RunFolder, into outbox: Outbox) throws {
        self.plan = plan
        self.folder = folder
        self.outbox = outbox
        let key = try Data(contentsOf: folder.senderKey).withUnsafeBytes { try SenderPrivateKey(parsing: $0) }
        sealer = Sealer(sender: key, topic: Newsroom.topic, safeDefault: Newsroom.safeDefault)
        let text = try String(contentsOf: folder.acknowledged, encoding: .utf8)
        let done = Set(text.split(separator: "\n").compactMap { Int($0) })
        remaining = Locked((0..<plan.messageCount).filter { !done.contains($0) }[...])
        acknowledged = Lines(folder.acknowledged.path(percentEncoded: false))
    }

    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<plan.patience.enqueuerCount {
                group.addTask {
                    while let message = self.remaining.withLock({ $0.popFirst() }) {
                        if self.mayBeSealed(message) {
                            try await self.enqueue(message)
                        } else {
                            self.remaining.withLock { $0.append(message) }
                            try await Task.sleep(for: .milliseconds(1))
                        }
                    }
                }
            }
            while try await group.next() != nil {}
        }
    }

    /// Whether a message may be sealed. If its phone is to revoke its key, the message waits for the new one.
    private func mayBeSealed(_ message: Int) -> Bool {
        guard plan.isHeld(message) else { return true }
        return access(folder.revoked(plan.device(of: message)).path(percentEncoded: false), F_OK) == 0
    }

    private func enqueue(_ message: Int) async throws {
        guard let device = DeviceName(parsing: RunPlan.deviceName(plan.device(of: message))) else { return }
        try await outbox.enqueue(
            OutgoingMessage(
                Content(
                    title: plan.marker.title, body: plan.body(of: message),
                    data: .object(["place": .string(plan.marker.data)])),
                key: IdempotencyKey("\(plan.marker.key) \(message)")), to: .device(device), from: sealer,
            includingUnverified: true)
        acknowledged.append("\(message)")
    }
}

/// Delivers through APNs, and kills its own process at the worst moment: after a response, before it is recorded.
struct MortalTransport: PushTransport {
    private let apns: APNsTransport
    private let remaining: Locked<Int>?

    /// - Parameter count: The number of accepted pushes after which the process dies, or nil to live.
    init(_ apns: APNsTransport, dyingAfter count: Int?) {
        self.apns = apns
        remaining = count.map { Locked($0) }
    }

    func deliver(_ request: PushRequest) async throws(PushTransportError) -> PushOutcome {
        let answer = try await apns.deliver(request)
        guard let remaining, case .accepted = answer else { return answer }
        let isLast = remaining.withLock { remaining in
            remaining -= 1
            return remaining == 0
        }
        if isLast { kill(getpid(), SIGKILL) }
        return answer
    }
}

/// The address of the local APNs, from the file in its folder.
struct ServerAddress: Decodable {
    let host: String
    let port: Int
    let root: String
    let key: String
    let keyID: String
    let teamID: String

    init(inFolder folder: URL) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: folder.appending(path: "address.json")))
    }

    func transport(_ plan: RunPlan) throws -> APNsTransport {
        let pem = try Array(Data(contentsOf: URL(filePath: key)))
        let roots = try Array(Data(contentsOf: URL(filePath: root)))
        var configuration = APNsConfiguration(
            endpoint: APNsEndpoint(host: host, port: port),
            key: try ProviderKey(pem: pem, keyID: keyID, teamID: teamID), trustRoots: try TrustRoots(pem: roots))
        configuration.deadlines.request = .milliseconds(plan.patience.request)
        return try APNsTransport(configuration)
    }
}
