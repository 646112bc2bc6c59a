internal import GRDB
import PushSender
import SealedPush

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension SQLiteStore {
    func settle(_ exchange: LeaseExchange) async throws(OutboxError) -> LeaseAnswer {
        let now = clock.now()
        return try await write { db in
            for (lease, settlement) in exchange.settled { try Self.settle(lease, settlement, at: now, in: db) }
            for lease in exchange.extended {
                try QueueTable.extend(lease, until: now + exchange.hold.milliseconds, in: db)
            }
            guard let order = exchange.order else { return LeaseAnswer() }
            return try Self.take(order, at: now, in: db)
        }
    }

    func hasProvenAddress(of carrier: Carrier) async throws(OutboxError) -> Bool {
        try await read { db in
            guard let carrier = try CarrierTable.id(of: carrier, in: db) else { return false }
            return try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM devices WHERE is_proven AND carrier = ?)",
                arguments: [carrier]) ?? false
        }
    }

    func timeUntilDue(by carrier: Carrier) async throws(OutboxError) -> Duration? {
        let due: Int64? = try await read { db in
            guard let carrier = try CarrierTable.id(of: carrier, in: db) else { return nil }
            return try Int64.fetchOne(
                db,
                sql: """
                    SELECT MIN(due) FROM (
                        SELECT MIN(due) AS due FROM queues WHERE carrier = ?1 AND priority = 10
                        UNION ALL SELECT MIN(due) FROM queues WHERE carrier = ?1 AND priority = 5)
                    """, arguments: [carrier])
        }
        // A damaged file may say any number.
        return due.map { .milliseconds(max(0, $0) - clock.now()) }
    }

    private static func take(_ order: LeaseOrder, at now: Int64, in db: Database) throws -> LeaseAnswer {
        guard let carrier = try CarrierTable.id(of: order.carrier, in: db) else { return LeaseAnswer() }
        var answer = LeaseAnswer()
        var number = order.firstNumber
        // A share for the considerate lane, the rest for the immediate one, and what that leaves for the other again.
        let lanes = [(5, order.considerateCount), (10, order.count), (5, order.count)]
        for (priority, limit) in lanes {
            let free = min(limit, order.count - answer.leases.count)
            guard free > 0 else { continue }
            for row in try due(carrier, priority: priority, limit: free, at: now, in: db) {
                try take(row, order, number: number, at: now, into: &answer, in: db)
                number += 1
            }
        }
        return answer
    }

    /// Whose time has come, longest waiting first. What lies further ahead than any delay we give was noted before the
    /// clock was set back: it is due, too.
    private static func due(
        _ carrier: Int64, priority: Int, limit: Int, at now: Int64, in db: Database
    ) throws -> [Row] {
        let columns = "SELECT device, entry, attempts FROM queues WHERE carrier = ? AND priority = ?"
        let rows = try Row.fetchAll(
            db.cachedStatement(sql: "\(columns) AND due <= ? ORDER BY due LIMIT ?"),
            arguments: [carrier, priority, now, limit])
        guard rows.isEmpty else { return rows }
        return try Row.fetchAll(
            db.cachedStatement(sql: "\(columns) AND due > ? ORDER BY due LIMIT ?"),
            arguments: [carrier, priority, now + Lease.longestDelay, limit])
    }

    /// Takes a device's oldest entry that is not stale, where one is left.
    private static func take(
        _ queue: Row, _ order: LeaseOrder, number: Int64, at now: Int64, into answer: inout LeaseAnswer, in db: Database
    ) throws {
        let device: Int64 = try queue.value("device")
        let lastEntry: Int64? = try queue.value("entry")
        while let head = try EntryTable.head(of: device, in: db) {
            let entry = try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT \(Self.entryColumns), stale, token_refusal FROM entries \(Self.joins) WHERE entries.id = ?
                        """), arguments: [head])
            guard let entry else { throw OutboxError.damaged }
            if now >= (try entry.value("stale")) {
                _ =
                    order.removesStale
                    ? try EntryTable.remove(head, in: db)
                    : try EntryTable.bury(head, reason: Tally.expired, attempts: 0, at: now, in: db)
                try Tally.add(Tally.expired, at: now, in: db)
                continue
            }
            let refusal: String? = try entry.value("token_refusal")
            let token: Data? = try entry.value("token")
            if refusal != nil || token == nil {
                // Its app has taken the address away, or its carrier has.
                let reason = refusal ?? SkipReason.noToken.rawValue
                let count = try EntryTable.buryAll(of: device, reason: reason, at: now, in: db)
                return try Tally.add(Tally.dead(reason), count, at: now, in: db)
            }
            let attempts = lastEntry == head ? min(try queue.count("attempts"), Lease.countedAttempts) + 1 : 1
            guard let row = try? Self.entryRow(entry), let request = row.request(of: order.carrier) else {
                // Somebody has been in the file: it costs this one, not all others.
                if try EntryTable.bury(head, reason: "malformed", attempts: 0, at: now, in: db) {
                    try Tally.add(Tally.dead("malformed"), at: now, in: db)
                }
                continue
            }
            try db.cachedStatement(
                sql: "UPDATE queues SET due = ?, lease = ?, entry = ?, attempts = ? WHERE device = ?"
            ).execute(arguments: [now + order.duration.milliseconds, number, head, attempts, device])
            return answer.leases.append(
                Lease(device: device, entry: head, number: number, attempts: attempts, request: request, entryRow: row))
        }
        try QueueTable.remove(device, in: db)
    }

    /// Throws where a value is not of the type that it must be.
    private static func entryRow(_ entry: Row) throws -> EntryRow {
        let (address, body): (Data?, Data) = (try entry.value("token"), try entry.value("body"))
        let (code, addressCode): (Data?, Data?) = (try entry.value("code"), try entry.value("address_code"))
        return try EntryRow(
            priority: entry.value("priority"), expiration: entry.value("expiration"), apnsID: entry.value("apns_id"),
            collapseID: entry.value("collapse_id"), body: Array(body), topic: entry.value("topic"),
            address: address.map { Array($0) }, isProven: entry.value("is_proven") ?? false,
            device: entry.value("name"), sender: entry.value("key"), code: code.map { Array($0) },
            addressCode: addressCode.map { Array($0) }, enqueued: entry.value("enqueued"))
    }

    private static let entryColumns = """
        priority, expiration, apns_id, collapse_id, body, topic, token, is_proven, devices.name, senders.key, code,
        address_code, enqueued
        """
    private static let joins = "LEFT JOIN devices ON devices.id = device LEFT JOIN senders ON senders.id = sender"
}

// MARK: What became of a lease

extension SQLiteStore {
    private static func settle(_ lease: Lease, _ settlement: Settlement, at now: Int64, in db: Database) throws {
        switch settlement {
        case .accepted:
            try prove(lease, in: db)
            if try EntryTable.remove(lease.entry, in: db) { try Tally.add(Tally.accepted, at: now, in: db) }
            try QueueTable.advance(lease, at: now, in: db)
        case .later(let delay): try QueueTable.release(lease, until: now + delay.milliseconds, isAttempt: true, in: db)
        case .returned: try QueueTable.release(lease, until: now, isAttempt: false, in: db)
        case .dead(let reason):
            if try EntryTable.bury(lease.entry, reason: reason, attempts: lease.attempts, at: now, in: db) {
                try Tally.add(Tally.dead(reason), at: now, in: db)
            }
            try QueueTable.advance(lease, at: now, in: db)
        case .addressGone(let reason, let since, let delay):
            try removeAddress(of: lease, reason: reason, since: since, otherwise: delay, at: now, in: db)
        case .addressRefused(let reason): try disableAddress(of: lease, reason: reason, at: now, in: db)
        }
    }

    /// Remembers, once, that the carrier takes pushes for the address.
    private static func prove(_ lease: Lease, in db: Database) throws {
        guard !lease.request.isProven else { return }
        try db.cachedStatement(sql: "UPDATE devices SET is_proven = 1 WHERE id = ? AND token = ?")
            .execute(arguments: [lease.device, Data(lease.request.address.bytes)])
    }

    private static func removeAddress(
        of lease: Lease, reason: String, since: Timestamp, otherwise delay: Duration, at now: Int64, in db: Database
    ) throws {
        guard let registered = try registration(of: lease, in: db) else {
            return try QueueTable.release(lease, until: now, isAttempt: false, in: db)
        }
        // Whole seconds, both cut: the same second counts as registered since.
        if registered / 1_000 >= since.secondsSince1970 {
            return try QueueTable.release(lease, until: now + delay.milliseconds, isAttempt: true, in: db)
        }
        try db.execute(
            sql:
                "UPDATE devices SET token = NULL, token_refusal = ?, is_proven = 0, revision = revision + 1 WHERE id = ?",
            arguments: [reason, lease.device])
        let count = try EntryTable.discardAll(of: lease.device, in: db)
        try Tally.add(Tally.dropped(reason), count, at: now, in: db)
    }

    private static func disableAddress(of lease: Lease, reason: String, at now: Int64, in db: Database) throws {
        guard try registration(of: lease, in: db) != nil else {
            return try QueueTable.release(lease, until: now, isAttempt: false, in: db)
        }
        try db.execute(
            sql: "UPDATE devices SET token_refusal = ?, is_proven = 0, revision = revision + 1 WHERE id = ?",
            arguments: [reason, lease.device])
        let isHeadThere = try EntryTable.bury(lease.entry, reason: reason, attempts: lease.attempts, at: now, in: db)
        let count = try EntryTable.buryAll(of: lease.device, reason: reason, at: now, in: db)
        try Tally.add(Tally.dead(reason), count + (isHeadThere ? 1 : 0), at: now, in: db)
    }

    /// When the address that was sent to was registered, in milliseconds; nil where the device has another by now.
    private static func registration(of lease: Lease, in db: Database) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(
                sql: "SELECT token_registered FROM devices WHERE id = ? AND token = ? AND token_refusal IS NULL"),
            arguments: [lease.device, Data(lease.request.address.bytes)])
    }
}
