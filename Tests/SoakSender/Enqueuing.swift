import EndToEnd
import Foundation
import Glibc
import PushCore
import PushOutbox
import PushSender
import SealedPush

/// Puts what was not acknowledged yet into the outbox, from several tasks at once, and notes each number as it is stored.
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
        sealer = Sealer(sender: key, topic: SenderParts.topic, safeDefault: SenderParts.safeDefault)
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

    /// Not before its phone has a new key, where that is to revoke the one it has.
    private func mayBeSealed(_ message: Int) -> Bool {
        guard plan.isHeld(message) else { return true }
        return access(folder.revoked(plan.device(of: message)).path(percentEncoded: false), F_OK) == 0
    }

    private func enqueue(_ message: Int) async throws {
        guard let device = DeviceName(parsing: RunPlan.deviceName(plan.device(of: message))) else { return }
        try await outbox.enqueue(
            Content(
                title: plan.marker.title, body: plan.body(of: message),
                data: .object(["place": .string(plan.marker.data)])),
            to: .device(device), from: sealer, includingUnverified: true,
            key: IdempotencyKey("\(plan.marker.key) \(message)"))
        acknowledged.append("\(message)")
    }
}
