internal import GRDB
import PushSender
import SealedPush

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Some of the devices that a message goes to, as they were read.
struct EnqueueBatch: Sendable {
    var candidates: [Candidate]
    /// Where the next batch begins: behind this device; nil where this is the last.
    let next: Int64?
    /// What an earlier call had enqueued before this batch.
    let alreadyEnqueuedCount: Int
    /// Where this batch begins.
    let position: Int64

    struct Candidate: Sendable {
        let device: Int64
        let revision: Int64
        let carrier: Int64
        let topic: Topic
        let hasToken: Bool
        let key: SealingKey
    }

    /// A candidate with what was sealed for it.
    struct Sealed: Sendable {
        let device: Int64
        let revision: Int64
        let carrier: Int64
        let payload: SealedPayload
    }
}

/// What is asked for, the same for all batches.
struct EnqueueOrder: Sendable {
    let content: Content
    let topic: Topic
    let audience: Audience
    let priority: PushPriority
    let expiration: Timestamp?
    let includesUnverified: Bool
    let key: IdempotencyKey?
    let sealedBy: SealedBy

    /// For telling whether a request is repeated for the same ones.
    var audienceText: String { "\(audience.text) of \(topic)" }
}

extension EnqueueBatch {
    /// Reads the next devices, from where an earlier call with the same key has stopped.
    static func read(_ order: EnqueueOrder, topic: Topic, after position: Int64, in db: Database) throws -> EnqueueBatch
    {
        var start = position
        var already = 0
        if let progress = try RequestTable.progress(of: order, in: db) {
            start = max(position, progress.position)
            already = progress.enqueuedCount
            if progress.isComplete {
                return EnqueueBatch(candidates: [], next: nil, alreadyEnqueuedCount: already, position: start)
            }
        }
        let rows: [Row]
        switch order.audience {
        case .device(let name):
            rows = try Row.fetchAll(db, sql: "\(selection) WHERE name = ?", arguments: [name.description])
            if rows.isEmpty { throw OutboxError.unknownDevice }
        case .user(let name):
            rows = try Row.fetchAll(
                db, sql: "\(selection) WHERE user = ? ORDER BY id", arguments: [name.description])
            if rows.isEmpty { throw OutboxError.unknownUser }
        case .everyone:
            rows = try Row.fetchAll(
                db.cachedStatement(sql: "\(selection) WHERE id > ? AND topic = ? ORDER BY id LIMIT ?"),
                arguments: [start, topic.description, maximumCount])
        }
        let candidates = try rows.map(candidate)
        let isPaged = order.audience == .everyone && candidates.count == maximumCount
        return EnqueueBatch(
            candidates: candidates, next: isPaged ? candidates.last?.device : nil, alreadyEnqueuedCount: already,
            position: start)
    }

    /// Seals for as many as may be sealed to, on all cores.
    func sealed(
        _ order: EnqueueOrder, with sealer: Sealer, at now: Timestamp, report: inout EnqueueReport
    ) async throws(OutboxError) -> [Sealed] {
        var usable: [Candidate] = []
        for candidate in candidates {
            if let reason = candidate.obstacle(order, topic: sealer.topic, at: now) {
                report.skipped[reason, default: 0] += 1
            } else {
                usable.append(candidate)
            }
        }
        guard !usable.isEmpty else { return [] }
        let content: PreparedContent
        do throws(SealError) { content = try sealer.prepare(order.content) } catch { throw .seal(error) }
        let share = max(Self.minimumShare, (usable.count + Self.coreCount - 1) / Self.coreCount)
        let parts = stride(from: 0, to: usable.count, by: share).map { usable[$0..<min($0 + share, usable.count)] }
        guard parts.count > 1 else {
            return Self.seal(parts.first ?? [], content, with: sealer)
        }
        let results = await withTaskGroup(of: (Int, [Sealed]).self) { group in
            for (index, part) in parts.enumerated() {
                group.addTask { (index, Self.seal(part, content, with: sealer)) }
            }
            var results: [(Int, [Sealed])] = []
            for await result in group { results.append(result) }
            return results.sorted { $0.0 < $1.0 }
        }
        return results.flatMap { $0.1 }
    }

    private static func seal(
        _ candidates: ArraySlice<Candidate>, _ content: PreparedContent, with sealer: Sealer
    ) -> [Sealed] {
        candidates.compactMap { candidate in
            candidate.key.seal(content, with: sealer).map { payload in
                Sealed(
                    device: candidate.device, revision: candidate.revision, carrier: candidate.carrier,
                    payload: payload)
            }
        }
    }

    private static func candidate(_ row: Row) throws -> Candidate {
        guard let topic = Topic(parsing: try row.value("topic")) else { throw OutboxError.damaged }
        let recipient: Recipient?
        do {
            recipient = try (row.value("recipient") as String?).map(Recipient.init(parsing:))
        } catch { throw OutboxError.damaged }
        return Candidate(
            device: try row.value("id"), revision: try row.value("revision"),
            carrier: try row.value("environment"), topic: topic, hasToken: try row.value("has_token"),
            key: SealingKey(
                recipient: recipient, isVerified: try row.value("is_verified"), validFrom: try row.value("valid_from"),
                validUntil: try row.value("valid_until")))
    }

    private static let selection = """
        SELECT id, revision, environment, topic, token IS NOT NULL AND token_refusal IS NULL AS has_token, recipient,
            is_verified, valid_from, valid_until
        FROM devices
        """
    /// Devices of one transaction: few enough to hold the lock for some milliseconds only, enough to make one sync of the
    /// disk cheap.
    private static let maximumCount = 1_000
    private static let minimumShare = 64
    private static let coreCount = max(1, ProcessInfo.processInfo.activeProcessorCount)
}

extension EnqueueBatch.Candidate {
    fileprivate func obstacle(_ order: EnqueueOrder, topic: Topic, at now: Timestamp) -> SkipReason? {
        guard self.topic == topic else { return .otherTopic }
        guard hasToken else { return .noToken }
        return key.obstacle(atSecond: now.secondsSince1970, includingUnverified: order.includesUnverified)
    }
}
