package import PushSender
package import SealedPush

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Some of the devices that a message goes to, as they were read.
package struct EnqueueBatch: Sendable {
    package var candidates: [Candidate]
    /// Of everyone, this part; nil where the batch is all whom the message goes to.
    package let range: EnqueueRange?
    /// Whether nothing is left to enqueue.
    package let isDone: Bool
    /// What this and earlier calls had enqueued before this batch.
    package let alreadyEnqueuedCount: Int

    package init(candidates: [Candidate], range: EnqueueRange? = nil, alreadyEnqueuedCount: Int) {
        self.candidates = candidates
        self.range = range
        isDone = false
        self.alreadyEnqueuedCount = alreadyEnqueuedCount
    }

    package init(doneWith alreadyEnqueuedCount: Int) {
        candidates = []
        range = nil
        isDone = true
        self.alreadyEnqueuedCount = alreadyEnqueuedCount
    }

    package struct Candidate: Sendable {
        package let device: Int64
        package let revision: Int64
        package let name: String
        package let user: String
        package let topic: Topic
        package let hasToken: Bool
        package let key: SealingKey
        /// By an ``OutboxKey``.
        package let code: [UInt8]?

        package init(
            device: Int64, revision: Int64, name: String, user: String, topic: Topic, hasToken: Bool, key: SealingKey,
            code: [UInt8]?
        ) {
            self.device = device
            self.revision = revision
            self.name = name
            self.user = user
            self.code = code
            self.topic = topic
            self.hasToken = hasToken
            self.key = key
        }
    }

    /// A candidate with what was sealed for it.
    package struct Sealed: Sendable {
        package let device: Int64
        package let revision: Int64
        package let payload: SealedPayload
        /// By an ``OutboxKey``.
        package let code: [UInt8]?
    }
}

/// A part of all devices, by their numbers in the store: those above the first, up to the last.
///
/// Who begins one notes it, and who stores it removes it. There is no time by which it is somebody's: when no new one is left,
/// those that are left are taken by whoever comes, and who stores one first has it. So nothing waits for a process that is gone,
/// and the most that is sealed in vain is one batch for each who works.
package struct EnqueueRange: Hashable, Sendable {
    package let start: Int64
    package let last: Int64

    package init(start: Int64, last: Int64) {
        self.start = start
        self.last = last
    }
}

/// What is asked for, the same for all batches.
package struct EnqueueOrder: Sendable {
    package let content: Content
    package let topic: Topic
    package let audience: Audience
    package let priority: PushPriority
    package let expiration: Timestamp?
    package let includesUnverified: Bool
    /// Never nil for everyone.
    package let key: IdempotencyKey?
    package let sealedBy: SealedBy
    package let outboxKey: OutboxKey?

    package func expiration(of payload: SealedPayload) -> Timestamp? { expiration ?? payload.expires }

    /// For telling whether a request is repeated for the same ones.
    package var audienceText: String { "\(audience.text) of \(topic)" }

    /// The earliest of what the caller and the content say, in milliseconds; nil where neither says anything. No entry stays
    /// for longer than ``lifetime``.
    package func end(of payload: SealedPayload) -> Int64? {
        // Zero is Apple's word for "one try": it says nothing about how long the push may wait here.
        let given = expiration.flatMap { $0.secondsSince1970 == 0 ? nil : $0 }
        return [given, payload.expires].compactMap { $0.map { ($0.secondsSince1970 + 1) * 1_000 } }.min()
    }

    /// How long anything is kept, in milliseconds: 30 days. Source: Specification 6, the oldest content that devices show.
    package static let lifetime: Int64 = 30 * Tally.millisecondsPerDay
}

extension EnqueueBatch {
    /// Seals for as many as may be sealed to, on all cores.
    func sealed(
        _ order: EnqueueOrder, with sealer: Sealer, at now: Timestamp, skipped: inout [SkipReason: Int]
    ) async throws(OutboxError) -> [Sealed] {
        var usable: [Candidate] = []
        for candidate in candidates {
            if let reason = candidate.obstacle(order, topic: sealer.topic, at: now) {
                skipped[reason, default: 0] += 1
            } else {
                usable.append(candidate)
            }
        }
        guard !usable.isEmpty else { return [] }
        let content: PreparedContent
        do throws(SealError) { content = try sealer.prepare(order.content) } catch { throw .seal(error) }
        let share = max(Self.minimumShare, (usable.count + Self.coreCount - 1) / Self.coreCount)
        let parts = stride(from: 0, to: usable.count, by: share).map { usable[$0..<min($0 + share, usable.count)] }
        guard parts.count > 1 else { return Self.seal(parts.first ?? [], content, order, with: sealer) }
        let results = await withTaskGroup(of: (Int, [Sealed]).self) { group in
            for (index, part) in parts.enumerated() {
                group.addTask { (index, Self.seal(part, content, order, with: sealer)) }
            }
            var results: [(Int, [Sealed])] = []
            for await result in group { results.append(result) }
            return results.sorted { $0.0 < $1.0 }
        }
        return results.flatMap { $0.1 }
    }

    private static func seal(
        _ candidates: ArraySlice<Candidate>, _ content: PreparedContent, _ order: EnqueueOrder, with sealer: Sealer
    ) -> [Sealed] {
        candidates.compactMap { candidate in
            candidate.key.seal(content, with: sealer).map { payload in
                let code = order.outboxKey?.code(
                    EntryRow(
                        priority: order.priority.rawValue,
                        expiration: order.expiration(of: payload)?.secondsSince1970, apnsID: payload.apnsID,
                        collapseID: payload.collapseID, body: payload.json, topic: candidate.topic.description,
                        device: candidate.name, sender: order.sealedBy.description))
                return Sealed(
                    device: candidate.device, revision: candidate.revision, payload: payload, code: code)
            }
        }
    }

    /// Devices of one transaction: few enough to hold the lock for some milliseconds only, enough to make one sync of the
    /// disk cheap.
    package static let maximumCount = 1_000
    private static let minimumShare = 64
    private static let coreCount = max(1, ProcessInfo.processInfo.activeProcessorCount)
}

extension EnqueueBatch.Candidate {
    fileprivate func obstacle(_ order: EnqueueOrder, topic: Topic, at now: Timestamp) -> SkipReason? {
        guard order.outboxKey?.accepts(self) ?? true else { return .forged }
        guard self.topic == topic else { return .otherTopic }
        guard hasToken else { return .noToken }
        return key.obstacle(atSecond: now.secondsSince1970, includingUnverified: order.includesUnverified)
    }
}
