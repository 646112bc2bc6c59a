internal import GRDB
import PushSender

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
        return due.map { DueTimes.delay(until: $0, at: clock.now()) }
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
    ) throws -> [SQLiteRow] {
        var rows: [SQLiteRow] = []
        for times in DueTimes.searched(at: now) where rows.isEmpty {
            var (end, arguments) = ("", [carrier, lane.rawValue, times.first, limit] as StatementArguments)
            // A text, which only another program can have written, sorts after all numbers, so it counts as impossible, too.
            if times.last < .max {
                end = "AND due <= ?5"
                arguments += [times.last]
            }
            rows = try db.rows(
                """
                SELECT device, entry, attempts FROM queues
                WHERE carrier = ?1 AND priority = ?2 AND due >= ?3 \(end) ORDER BY due LIMIT ?4
                """, arguments)
        }
        return rows
    }

    /// Judges a queue's entries, oldest first, until one is leased or none is left.
    private static func take(
        _ queue: SQLiteRow, _ order: LeaseOrder, after leaseCount: Int, at now: Int64, in db: Database
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
            case .dropAddress(let reason):
                try DeviceTable.disable(lease.device, "token = NULL, token_refusal = ?", reason, in: db)
            case .disableAddress(let reason):
                try DeviceTable.disable(lease.device, "token_refusal = ?", reason, in: db)
            case .discardAll(let outcome):
                try EntryTable.discardAll(of: lease.device, outcome, at: now, in: db)
            case .buryAll(let reason): try EntryTable.buryAll(of: lease.device, reason: reason, at: now, in: db)
            case .release(let delay, let attempts):
                try QueueTable.release(lease, until: now + delay.milliseconds, attempts: attempts, in: db)
            case .advance: try QueueTable.advance(lease, at: now, in: db)
            }
        }
    }

    private static func prove(_ lease: Lease, in db: Database) throws {
        try db.run(
            "UPDATE devices SET is_proven = 1 WHERE id = ? AND token = ?",
            [lease.device, lease.request.address.bytes.blob])
    }

    /// Returns the time at which the push's address was registered, in milliseconds, or nil if the device now has another.
    private static func registration(of lease: Lease, in db: Database) throws -> Int64? {
        try db.value(
            "SELECT token_registered FROM devices WHERE id = ? AND token = ? AND token_refusal IS NULL",
            [lease.device, lease.request.address.bytes.blob])
    }
}
