internal import GRDB
public import PushSender
public import SealedPush

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension Outbox {
    /// Seals a message for devices and stores what is sealed: one step, durable on return.
    ///
    /// If the process dies meanwhile, what was not stored yet was never enqueued; with a key, the same call made again goes on
    /// from there, and enqueues nothing twice. A device and a user are one transaction. Everyone is one for each thousand
    /// devices, so that neither memory nor the database's lock is held for long. About 10 ms, and for each device 120 µs of a
    /// core where the sealer has not seen it before.
    ///
    /// - Parameters:
    ///   - sealer: for the app, and under the key, that the devices trust.
    ///   - expiration: for `apns-expiration`: until when the push is of use. Nil takes the content's own. What is stale is
    ///     dropped, not sent; after 30 days, everything is.
    ///   - includingUnverified: whether devices count whose recipient nobody vouches for.
    ///   - key: what makes a repeated call harmless, for 30 days. Strongly advised for everyone.
    ///   - progress: called after each transaction.
    /// - Throws: `seal`, `unknownDevice`, `unknownUser`, `keyUsedForOthers`, or what the database says.
    @discardableResult
    public func enqueue(
        _ content: Content, to audience: Audience, from sealer: Sealer, priority: PushPriority = .immediate,
        expiration: Timestamp? = nil, includingUnverified: Bool = false, key: IdempotencyKey? = nil,
        progress: (@Sendable (EnqueueReport) -> Void)? = nil
    ) async throws(OutboxError) -> EnqueueReport {
        var content = content
        content.id = content.id ?? .random()
        let order = EnqueueOrder(
            content: content, topic: sealer.topic, audience: audience, priority: priority, expiration: expiration,
            includesUnverified: includingUnverified, key: key,
            sealedBy: sealer.sender.map { .sender($0) } ?? .anonymous)
        var report = EnqueueReport()
        var position: Int64? = 0
        var isFirst = true
        while let start = position {
            var attempt = report
            let batch = try await read { try EnqueueBatch.read(order, topic: sealer.topic, after: start, in: $0) }
            if isFirst { attempt.alreadyEnqueuedCount = batch.alreadyEnqueuedCount }
            let now = Timestamp(clamping: clock.now() / 1_000)
            let sealed = try await batch.sealed(order, with: sealer, at: now, report: &attempt)
            // Where a device or the request's progress has changed since it was read, the batch is read and sealed anew.
            guard try await store(sealed, of: batch, order) else { continue }
            attempt.enqueuedCount += sealed.count
            report = attempt
            progress?(report)
            position = batch.next
            isFirst = false
        }
        return report
    }

    /// False, and nothing stored, where a device or the request's progress is not as it was read.
    private func store(
        _ sealed: [EnqueueBatch.Sealed], of batch: EnqueueBatch, _ order: EnqueueOrder
    ) async throws(OutboxError) -> Bool {
        if batch.candidates.isEmpty && order.key == nil { return true }
        let now = clock.now()
        return try await write { db in
            if let progress = try RequestTable.progress(of: order, in: db) {
                if progress.isComplete { return batch.candidates.isEmpty }
                guard progress.position <= batch.position else { return false }
            }
            for item in sealed { guard try Self.isUnchanged(item, in: db) else { return false } }
            let sender = sealed.isEmpty ? nil : try SenderTable.id(making: order.sealedBy, in: db)
            for item in sealed { try Self.insert(item, order, sender: sender, at: now, in: db) }
            try RequestTable.advance(
                order, to: batch.next ?? .max, isComplete: batch.next == nil, enqueuing: sealed.count, at: now, in: db)
            return true
        }
    }

    private static func isUnchanged(_ item: EnqueueBatch.Sealed, in db: Database) throws -> Bool {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT revision FROM devices WHERE id = ?"), arguments: [item.device])
            == item.revision
    }

    private static func insert(
        _ item: EnqueueBatch.Sealed, _ order: EnqueueOrder, sender: Int64?, at now: Int64, in db: Database
    ) throws {
        let payload = item.payload
        let expiration = order.expiration ?? payload.expires
        try db.cachedStatement(
            sql: """
                INSERT INTO entries(device, priority, enqueued, stale, expiration, apns_id, collapse_id, body, sender)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            item.device, order.priority.rawValue, now, staleTime(order, payload, at: now),
            expiration?.secondsSince1970, payload.apnsID, payload.collapseID, Data(payload.json), sender,
        ])
        try QueueTable.add(
            item.device, carrier: item.carrier, priority: order.priority.rawValue, due: now, in: db)
    }

    /// The earliest of what the caller, the content and the limit of 30 days say, in milliseconds.
    private static func staleTime(_ order: EnqueueOrder, _ payload: SealedPayload, at now: Int64) -> Int64 {
        // Zero is Apple's word for "one try": it says nothing about how long the push may wait here.
        let given = order.expiration.flatMap { $0.secondsSince1970 == 0 ? nil : $0 }
        let ends = [given, payload.expires].compactMap { $0.map { ($0.secondsSince1970 + 1) * 1_000 } }
        return ends.reduce(now + lifetime, min)
    }

    /// How long anything is kept, in milliseconds: 30 days. Source: Specification 6, the oldest content that devices show.
    static let lifetime: Int64 = 30 * Tally.millisecondsPerDay
}

/// Whom a message goes to.
public enum Audience: Hashable, Sendable {
    case device(DeviceName)
    /// All devices of one user, in one transaction.
    case user(UserName)
    /// All devices of the sealer's app.
    case everyone

    /// For telling whether a request is repeated for the same ones.
    var text: String {
        switch self {
        case .device(let name): "device \(name)"
        case .user(let name): "user \(name)"
        case .everyone: "everyone"
        }
    }
}

/// What enqueueing has done.
public struct EnqueueReport: Hashable, Sendable {
    /// Pushes that wait now because of this call.
    public internal(set) var enqueuedCount = 0
    /// Pushes that an earlier call with the same idempotency key had enqueued.
    public internal(set) var alreadyEnqueuedCount = 0
    /// Devices that got nothing, by reason.
    public internal(set) var skipped: [SkipReason: Int] = [:]
}

/// Why a device gets nothing. The codes are stable.
public enum SkipReason: String, Hashable, Sendable, CaseIterable {
    /// It has no address, or its carrier refuses the one it has.
    case noToken = "no-token"
    /// None of its recipients has answered a challenge yet.
    case unproven
    /// Nobody vouches for its recipient, and the caller did not include such devices.
    case unverified
    case recordExpired = "record-expired"
    case recordNotYetValid = "record-not-yet-valid"
    /// It runs another app than the sealer's.
    case otherTopic = "other-topic"
}
