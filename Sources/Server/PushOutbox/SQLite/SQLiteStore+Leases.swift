internal import GRDB
import PushSender
import SealedPush

extension SQLiteStore {
    func settle(_ exchange: LeaseExchange) async throws(OutboxError) -> LeaseAnswer {
        try await write { db, now in
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
            guard let carrier = try NameTable.carriers.id(of: carrier.description, in: db) else { return false }
            return try db.value("SELECT EXISTS (SELECT 1 FROM devices WHERE is_proven AND carrier = ?)", [carrier])
                ?? false
        }
    }

    func timeUntilDue(by carrier: Carrier) async throws(OutboxError) -> Duration? {
        let due: Int64? = try await read { db in
            guard let carrier = try NameTable.carriers.id(of: carrier.description, in: db) else { return nil }
            return try db.value(
                """
                SELECT MIN(due) FROM (
                    SELECT MIN(due) AS due FROM queues WHERE carrier = ?1 AND priority = 10
                    UNION ALL SELECT MIN(due) FROM queues WHERE carrier = ?1 AND priority = 5)
                """, [carrier])
        }
        // A damaged file may contain any number.
        return due.map { .milliseconds(max(0, $0) - clock.now()) }
    }

    private static func take(_ order: LeaseOrder, at now: Int64, in db: Database) throws -> LeaseAnswer {
        guard let carrier = try NameTable.carriers.id(of: order.carrier.description, in: db) else {
            return LeaseAnswer()
        }
        var answer = LeaseAnswer()
        var lanes = LaneSequence(order)
        while let (lane, limit) = lanes.next(after: answer.leases.count) {
            for queue in try due(carrier, lane, limit: limit, at: now, in: db) {
                let lease = try take(queue, order, after: answer.leases.count, at: now, in: db)
                if let lease { answer.leases.append(lease) }
            }
        }
        return answer
    }

    /// Returns due queues, longest waiting first.
    private static func due(
        _ carrier: Int64, _ lane: PushPriority, limit: Int, at now: Int64, in db: Database
    ) throws -> [Row] {
        var rows: [Row] = []
        for times in DueTimes.searched(at: now) where rows.isEmpty {
            rows = try db.rows(
                """
                SELECT device, entry, attempts FROM queues
                WHERE carrier = ? AND priority = ? AND due >= ? AND due <= ? ORDER BY due LIMIT ?
                """, [carrier, lane.rawValue, times.first, times.last, limit])
        }
        return rows
    }

    /// Judges a queue's entries, oldest first, until one is leased or none is left.
    private static func take(
        _ queue: Row, _ order: LeaseOrder, after leaseCount: Int, at now: Int64, in db: Database
    ) throws -> Lease? {
        let device = try queue.int("device")
        while true {
            let head = try QueueHead(queue: queue, entry: EntryTable.oldest(of: device, in: db))
            switch head.judge(for: order, after: leaseCount, at: now) {
            case .lease(let lease):
                try QueueTable.hold(lease, until: now + order.duration.milliseconds, in: db)
                return lease
            case .remove(let entry, let outcome): try EntryTable.remove(entry, outcome, at: now, in: db)
            case .bury(let entry, let reason): try EntryTable.bury("id", entry, reason: reason, at: now, in: db)
            case .buryAll(let device, let reason):
                try EntryTable.buryAll(of: device, reason: reason, at: now, in: db)
                return nil
            case .removeQueue:
                try QueueTable.remove(device, in: db)
                return nil
            }
        }
    }
}

// MARK: Outcomes of leases

extension SQLiteStore {
    private static func settle(_ lease: Lease, _ settlement: Settlement, at now: Int64, in db: Database) throws {
        let registered = settlement.concernsAddress ? try registration(of: lease, in: db) : nil
        for change in settlement.changes(to: lease, registered: registered) {
            switch change {
            case .remove(let outcome): try EntryTable.remove(lease.entry, outcome, at: now, in: db)
            case .bury(let reason):
                try EntryTable.bury("id", lease.entry, reason: reason, attempts: lease.attempts, at: now, in: db)
            case .prove: try prove(lease, in: db)
            case .dropAddress(let reason): try disable(lease.device, "token = NULL, token_refusal = ?", reason, in: db)
            case .disableAddress(let reason): try disable(lease.device, "token_refusal = ?", reason, in: db)
            case .discardAll(let outcome):
                let count = try EntryTable.discardAll(of: lease.device, outcome, at: now, in: db)
                try Tally.add(outcome, count, at: now, in: db)
            case .buryAll(let reason): try EntryTable.buryAll(of: lease.device, reason: reason, at: now, in: db)
            case .release(let delay, let isAttempt):
                try QueueTable.release(lease, until: now + delay.milliseconds, isAttempt: isAttempt, in: db)
            case .advance: try QueueTable.advance(lease, at: now, in: db)
            }
        }
    }

    private static func prove(_ lease: Lease, in db: Database) throws {
        try db.run(
            "UPDATE devices SET is_proven = 1 WHERE id = ? AND token = ?",
            [lease.device, lease.request.address.bytes.blob])
    }

    private static func disable(_ device: Int64, _ columns: String, _ reason: String, in db: Database) throws {
        try db.run(
            "UPDATE devices SET \(columns), is_proven = 0, \(SafeNumber.nextRevision) WHERE id = ?", [reason, device])
    }

    /// Returns the time at which the push's address was registered, in milliseconds, or nil if the device now has another.
    private static func registration(of lease: Lease, in db: Database) throws -> Int64? {
        try db.value(
            "SELECT token_registered FROM devices WHERE id = ? AND token = ? AND token_refusal IS NULL",
            [lease.device, lease.request.address.bytes.blob])
    }
}

/// The number of pushes by outcome and day, as rows.
extension Tally {
    static func add(_ outcome: String, _ count: Int = 1, at now: Int64, in db: Database) throws {
        guard count > 0 else { return }
        try db.run(
            """
            INSERT INTO tallies(day, outcome, count) VALUES (?, ?, ?)
            ON CONFLICT(day, outcome) DO UPDATE SET count = \(SafeNumber.sum("count", "excluded.count"))
            """, [now / millisecondsPerDay, outcome, count])
    }
}

/// Devices with waiting entries, as rows.
enum QueueTable {
    /// Makes a device's queue due now, in its highest-priority lane. Back-offs and leases continue.
    static func add(_ device: Int64, carrier: Int64, priority: Int, due: Int64, in db: Database) throws {
        try db.run(
            """
            INSERT INTO queues(device, carrier, priority, due) VALUES (?, ?, ?, ?)
            ON CONFLICT(device) DO UPDATE SET priority = CASE priority WHEN 10 THEN 10 ELSE excluded.priority END
            """, [device, carrier, priority, due])
    }

    static func remove(_ device: Int64, in db: Database) throws {
        try db.run("DELETE FROM queues WHERE device = ?", [device])
    }

    /// Moves all due times and the ends of leases.
    static func move(by step: Int64, in db: Database) throws {
        try db.run("UPDATE queues SET due = \(SafeNumber.sum("due", "?"))", [max(min(step, 1 << 60), -1 << 60)])
    }

    /// Makes deferred entries due at once: the reason why the old address failed doesn't apply to the new one.
    static func hurry(_ device: Int64, due: Int64, in db: Database) throws {
        try db.run(
            "UPDATE queues SET due = ?, attempts = 0 WHERE device = ? AND due > ? AND lease IS NULL",
            [due, device, due])
    }

    /// Records a new lease.
    static func hold(_ lease: Lease, until due: Int64, in db: Database) throws {
        try db.run(
            "UPDATE queues SET due = ?, lease = ?, entry = ?, attempts = ? WHERE device = ?",
            [due, lease.number, lease.entry, lease.attempts, lease.device])
    }

    /// Releases a lease; a no-op if it was lost in the meantime.
    static func release(_ lease: Lease, until due: Int64, isAttempt: Bool, in db: Database) throws {
        try db.run(
            "UPDATE queues SET due = ?, lease = NULL, attempts = MAX(attempts, 1) - ? WHERE device = ? AND lease = ?",
            [due, isAttempt ? 0 : 1, lease.device, lease.number])
    }

    /// Extends a lease; a no-op if it was lost in the meantime.
    static func extend(_ lease: Lease, until due: Int64, in db: Database) throws {
        try db.run("UPDATE queues SET due = ? WHERE device = ? AND lease = ?", [due, lease.device, lease.number])
    }

    /// Advances to a device's next entry once its head is gone. If another courier has the lease now, the row stays: a newer
    /// entry must wait until that courier settles the old one.
    static func advance(_ lease: Lease, at now: Int64, in db: Database) throws {
        guard try EntryTable.head(of: lease.device, in: db) != nil else {
            return try db.run(
                "DELETE FROM queues WHERE device = ? AND (lease IS NULL OR lease = ?)", [lease.device, lease.number])
        }
        try db.run(
            """
            UPDATE queues SET due = ?1, lease = NULL, entry = NULL, attempts = 0,
                priority = CASE WHEN EXISTS (SELECT 1 FROM entries WHERE device = ?2 AND priority = 10)
                    THEN 10 ELSE 5 END
            WHERE device = ?2 AND lease = ?3
            """, [now, lease.device, lease.number])
    }
}

/// Waiting sealed payloads, as rows.
enum EntryTable {
    /// Returns the oldest entry that waits for a device.
    static func head(of device: Int64, in db: Database) throws -> Int64? {
        // Two index lookups, however many entries wait.
        try db.value(
            """
            SELECT MIN(id) FROM (
                SELECT MIN(id) AS id FROM entries WHERE device = ?1 AND priority = 10
                UNION ALL SELECT MIN(id) FROM entries WHERE device = ?1 AND priority = 5)
            """, [device])
    }

    /// Returns the oldest entry that waits for a device, with the device's address.
    static func oldest(of device: Int64, in db: Database) throws -> Row? {
        guard let head = try head(of: device, in: db) else { return nil }
        let row = try db.row(
            """
            SELECT entries.id, priority, expiration, apns_id, collapse_id, body, CAST(topic AS BLOB) AS topic, token,
                is_proven, \(DeviceTable.nameColumn), senders.name AS sender, code, address_code, enqueued, stale, token_refusal
            FROM entries LEFT JOIN devices ON devices.id = device LEFT JOIN senders ON senders.id = sender
            WHERE entries.id = ?
            """, [head])
        guard let row else { throw OutboxError.damaged }
        return row
    }

    /// Counts the outcomes of entries, or of dead letters with a negative count, for their messages.
    static func note(
        _ outcome: String, _ column: String, _ value: Int64, of table: String = "entries", count: Int = 1,
        at now: Int64, in db: Database
    ) throws {
        try db.run(
            """
            INSERT INTO outcomes(message, device, outcome, count, created)
            SELECT e.message, CASE WHEN EXISTS (
                    SELECT 1 FROM outcomes o WHERE o.message = e.message AND o.device = 0 AND o.outcome = 'enqueued'
                ) THEN 0 ELSE e.device END AS place, ?1, ?2 * COUNT(*), ?3
            FROM \(table) e WHERE e.message IS NOT NULL AND e.\(column) = ?4 GROUP BY e.message, place
            ON CONFLICT(message, device, outcome) DO UPDATE SET count = \(SafeNumber.sum("count", "excluded.count"))
            """, [outcome, count, now, value])
    }

    /// Removes an entry with the given outcome, unless it is already gone.
    static func remove(_ id: Int64, _ outcome: String, at now: Int64, in db: Database) throws {
        try note(outcome, "id", id, at: now, in: db)
        try db.run("DELETE FROM entries WHERE id = ?", [id])
        try Tally.add(outcome, db.changesCount, at: now, in: db)
    }

    /// Removes all waiting entries of a device, including dead letters, and returns how many.
    static func discardAll(
        of device: Int64, _ outcome: String = Tally.discarded, at now: Int64, in db: Database
    ) throws -> Int {
        try note(outcome, "device", device, at: now, in: db)
        try db.run("DELETE FROM entries WHERE device = ?", [device])
        var count = db.changesCount
        try db.run("DELETE FROM dead_letters WHERE device = ?", [device])
        count += db.changesCount
        try QueueTable.remove(device, in: db)
        return count
    }

    /// Moves all waiting entries of a device to the dead letters.
    static func buryAll(of device: Int64, reason: String, at now: Int64, in db: Database) throws {
        try QueueTable.remove(device, in: db)
        try bury("device", device, reason: reason, at: now, in: db)
    }

    /// Moves the entries that are still there to the dead letters, still sealed.
    static func bury(
        _ column: String, _ value: Int64, reason: String, attempts: Int = 0, at now: Int64, in db: Database
    ) throws {
        try note(Tally.dead(reason), column, value, at: now, in: db)
        try db.run(
            """
            INSERT OR IGNORE INTO dead_letters(\(columns), reason, attempts, died)
            SELECT \(columns), ?, ?, ? FROM entries WHERE \(column) = ?
            """, [reason, attempts, now, value])
        try db.run("DELETE FROM entries WHERE \(column) = ?", [value])
        try Tally.add(Tally.dead(reason), db.changesCount, at: now, in: db)
    }

    static let columns =
        "id, device, priority, enqueued, stale, expiration, apns_id, collapse_id, body, sender, code, message"
}
