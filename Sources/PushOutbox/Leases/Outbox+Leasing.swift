internal import GRDB
import PushSender
import SealedPush

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What a courier asks for: so many leases, of these lanes, for so long.
struct LeaseOrder: Sendable {
    let carrier: Carrier
    let count: Int
    /// How many of them go to the considerate lane first, where something waits there: so it never starves.
    let considerateCount: Int
    let duration: Duration
    /// The first lease's number; the others follow.
    let firstNumber: Int64
}

extension Outbox {
    /// Notes what became of leases, and takes new ones, in one transaction.
    func settle(
        _ settled: [(lease: Lease, settlement: Settlement)], extending extended: [Lease] = [], taking order: LeaseOrder?
    ) async throws(OutboxError) -> [Lease] {
        let now = clock.now()
        return try await write { db in
            for (lease, settlement) in settled { try Self.settle(lease, settlement, at: now, in: db) }
            for lease in extended { try QueueTable.extend(lease, until: lease.end, in: db) }
            guard let order else { return [] }
            return try Self.take(order, at: now, in: db)
        }
    }

    /// When something comes due next, in milliseconds since 1970; nil where nothing waits.
    func nextDue(by carrier: Carrier) async throws(OutboxError) -> Int64? {
        try await read { db in
            guard let carrier = try CarrierTable.id(of: carrier, in: db) else { return nil }
            return try Int64.fetchOne(
                db,
                sql: """
                    SELECT MIN(due) FROM (
                        SELECT MIN(due) AS due FROM queues WHERE environment = ?1 AND priority = 10
                        UNION ALL SELECT MIN(due) FROM queues WHERE environment = ?1 AND priority = 5)
                    """, arguments: [carrier])
        }
    }

    private static func take(_ order: LeaseOrder, at now: Int64, in db: Database) throws -> [Lease] {
        guard let carrier = try CarrierTable.id(of: order.carrier, in: db) else { return [] }
        var leases: [Lease] = []
        var number = order.firstNumber
        // A share for the considerate lane, the rest for the immediate one, and what that leaves for the other again.
        let lanes = [(5, order.considerateCount), (10, order.count), (5, order.count)]
        for (priority, limit) in lanes {
            let free = min(limit, order.count - leases.count)
            guard free > 0 else { continue }
            for row in try due(carrier, priority: priority, limit: free, at: now, in: db) {
                let end = now + order.duration.milliseconds
                let lease = try take(row, of: order.carrier, number: number, end: end, at: now, in: db)
                if let lease { leases.append(lease) }
                number += 1
            }
        }
        return leases
    }

    /// Whose time has come, longest waiting first. What lies further ahead than any delay we give was noted before the
    /// clock was set back: it is due, too.
    private static func due(
        _ carrier: Int64, priority: Int, limit: Int, at now: Int64, in db: Database
    ) throws -> [Row] {
        let columns = "SELECT device, entry, attempts FROM queues WHERE environment = ? AND priority = ?"
        let rows = try Row.fetchAll(
            db.cachedStatement(sql: "\(columns) AND due <= ? ORDER BY due LIMIT ?"),
            arguments: [carrier, priority, now, limit])
        guard rows.isEmpty else { return rows }
        return try Row.fetchAll(
            db.cachedStatement(sql: "\(columns) AND due > ? ORDER BY due LIMIT ?"),
            arguments: [carrier, priority, now + longestDelay, limit])
    }

    /// Takes a device's oldest entry, dropping those before it that are stale; nil where none is left.
    private static func take(
        _ row: Row, of carrier: Carrier, number: Int64, end: Int64, at now: Int64, in db: Database
    ) throws -> Lease? {
        let device: Int64 = try row.value("device")
        let lastEntry: Int64? = try row.value("entry")
        while let head = try EntryTable.head(of: device, in: db) {
            let entry = try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT priority, enqueued, stale, expiration, apns_id, collapse_id, body, topic, token,
                            token_refusal, is_proven
                        FROM entries LEFT JOIN devices ON devices.id = entries.device WHERE entries.id = ?
                        """), arguments: [head])
            guard let entry else { throw OutboxError.damaged }
            if now >= (try entry.value("stale")) {
                _ = try EntryTable.remove(head, in: db)
                try Tally.add(Tally.expired, at: now, in: db)
                continue
            }
            let refusal: String? = try entry.value("token_refusal")
            let token: Data? = try entry.value("token")
            if refusal != nil || token == nil {
                // Its app has taken the address away, or its carrier has.
                let reason = refusal ?? SkipReason.noToken.rawValue
                let count = try EntryTable.buryAll(of: device, reason: reason, at: now, in: db)
                try Tally.add(Tally.dead(reason), count, at: now, in: db)
                return nil
            }
            let attempts = lastEntry == head ? min(try row.count("attempts"), Self.countedAttempts) + 1 : 1
            guard let request = try? request(entry, of: carrier) else {
                // Somebody has been in the file: it costs this one, not all others.
                if try EntryTable.bury(head, reason: "malformed", attempts: 0, at: now, in: db) {
                    try Tally.add(Tally.dead("malformed"), at: now, in: db)
                }
                continue
            }
            try db.cachedStatement(
                sql: "UPDATE queues SET due = ?, lease = ?, entry = ?, attempts = ? WHERE device = ?"
            ).execute(arguments: [end, number, head, attempts, device])
            return Lease(device: device, entry: head, number: number, attempts: attempts, end: end, request: request)
        }
        try QueueTable.remove(device, in: db)
        return nil
    }

    /// Nil, or an error, for what is no push.
    private static func request(_ entry: Row, of carrier: Carrier) throws -> PushRequest? {
        let (apnsID, collapseID): (String, String) = (try entry.value("apns_id"), try entry.value("collapse_id"))
        let (token, body): (Data, Data) = (try entry.value("token"), try entry.value("body"))
        guard let address = Address(Array(token), of: carrier), let topic = Topic(parsing: try entry.value("topic")),
            let priority = PushPriority(rawValue: try entry.value("priority")), apnsID.utf8.count == 36,
            (1...64).contains(collapseID.utf8.count), body.count <= SizePlan.maximumPayloadByteCount
        else { return nil }
        let expiration: Int64? = try entry.value("expiration")
        var request = PushRequest(
            address: address, body: Array(body), topic: topic, apnsID: apnsID, collapseID: collapseID,
            priority: priority,
            expiration: expiration.map { Timestamp(clamping: $0) })
        request.isProven = try entry.value("is_proven")
        return request
    }

    /// No delay grows beyond this many attempts.
    private static let countedAttempts = 1_000_000
    /// Longer than any lease or back-off, in milliseconds.
    static let longestDelay: Int64 = Tally.millisecondsPerDay
}
