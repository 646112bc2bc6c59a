internal import GRDB
import PushSender
import SealedPush

extension SQLiteStore {
    func retryNow() async throws(OutboxError) -> Int {
        try await write { db, now in
            try db.run("UPDATE queues SET due = ?1 WHERE due > ?1 AND lease IS NULL", [now])
            return db.changesCount
        }
    }

    func removeRecords() async throws(OutboxError) -> Int64? {
        try await write { db, now in
            let limits = RecordLimits(at: now)
            for table in ["requests", "outcomes"] {
                try db.run("DELETE FROM \(table) WHERE created < ?", [limits.created])
            }
            try db.run("DELETE FROM tallies WHERE day < ?", [limits.tallyDay])
            try db.run("DELETE FROM logins WHERE ended < ?", [limits.loginsEnded])
            try db.run("DELETE FROM receipt_numbers WHERE day < ?", [limits.receiptDay])
            for table in ["receipt_devices", "receipt_failures"] {
                try db.run("DELETE FROM \(table) WHERE last < ?", [limits.lastReceipt])
            }
            return now
        }
    }

    func removeDeadLetters(_ condition: PushCondition, limit: Int) async throws(OutboxError) -> Int {
        let (sql, arguments) = condition.rows.sql
        return try await write { db, _ in
            try db.run(
                "DELETE FROM dead_letters WHERE id IN (SELECT id FROM dead_letters WHERE \(sql) LIMIT ?)",
                arguments + [limit])
            return db.changesCount
        }
    }

    func removeEntries(_ condition: PushCondition, outcome: String, limit: Int) async throws(OutboxError) -> Int {
        try await write { db, now in
            guard case .expired = condition else {
                return try Self.remove("true", condition, outcome, limit: limit, at: now, in: db)
            }
            // The first condition is the one in the index: entries that live for less than 30 days. The others are at the
            // front of the table, since they are in order.
            let short = "send_until < enqueued + \(EnqueueOrder.lifetime)"
            let old = "id IN (SELECT id FROM entries ORDER BY id LIMIT \(limit))"
            let count = try Self.remove(short, condition, outcome, limit: limit, at: now, in: db)
            return try count + Self.remove(old, condition, outcome, limit: limit - count, at: now, in: db)
        }
    }

    /// Removes entries and the queues that become empty. A queue with an entry in transit stays with its holder.
    private static func remove(
        _ place: String, _ condition: PushCondition, _ outcome: String, limit: Int, at now: Int64, in db: Database
    ) throws -> Int {
        let (sql, arguments) = condition.rows.sql
        let rows = try db.rows(
            "SELECT id, device FROM entries WHERE \(sql) AND \(place) LIMIT ?", arguments + [limit])
        for row in rows {
            let device = try row.int("device")
            try EntryTable.remove(try row.int("id"), outcome, at: now, in: db)
            guard try EntryTable.head(of: device, in: db) == nil else { continue }
            try db.run("DELETE FROM queues WHERE device = ? AND (lease IS NULL OR due <= ?)", [device, now])
        }
        return rows.count
    }

    func requeue(_ requeuing: Requeuing, limit: Int) async throws(OutboxError) -> Int {
        // A transaction has waited for all others, so it never leaves out a device.
        guard !requeuing.isWaiting else { return 0 }
        return try await write { db, now in try Self.requeue(requeuing, limit: limit, at: now, in: db) }
    }

    private static func requeue(_ requeuing: Requeuing, limit: Int, at now: Int64, in db: Database) throws -> Int {
        let (addresses, letters) = (requeuing.addresses.sql, requeuing.letters(at: now).sql)
        try db.run(
            """
            UPDATE devices SET token_refusal = NULL, \(SafeNumber.nextRevision)
            WHERE \(addresses.condition) AND id IN (SELECT device FROM dead_letters)
            """, addresses.arguments)
        let rows = try db.rows(
            """
            SELECT dead_letters.id, device, priority, carrier, reason, buried
            FROM dead_letters JOIN devices ON devices.id = device
            WHERE \(letters.condition) AND \(RowCondition.isReachable.sql.condition)
                -- If a waiting entry has the number, one of the two was tampered with.
                AND NOT EXISTS (SELECT 1 FROM entries WHERE entries.id = dead_letters.id)
            ORDER BY dead_letters.id LIMIT ?
            """, letters.arguments + [limit])
        for row in rows {
            let id = try row.int("id")
            let ending = PushEnding(requeueing: try row.text("reason"), buriedAt: try row.int("buried"))
            try EntryTable.count(ending, "id", id, of: "dead_letters", in: db)
            try db.run(
                """
                INSERT INTO entries(\(EntryTable.columns))
                SELECT \(EntryTable.columns) FROM dead_letters WHERE id = ?
                """, [id])
            try db.run("DELETE FROM dead_letters WHERE id = ?", [id])
            try QueueTable.add(
                try row.int("device"), carrier: try row.int("carrier"), priority: try row.count("priority"), due: now,
                in: db)
        }
        return rows.count
    }

    // MARK: Status

    func status() async throws(OutboxError) -> OutboxStatus {
        let count = StatusCount(at: clock.now())
        return try await read { db in
            var status = OutboxStatus()
            let totals = try db.row(
                """
                SELECT COUNT(*) FILTER (WHERE due <= ?1) AS due,
                    COUNT(*) FILTER (WHERE due > ?1 AND lease IS NOT NULL) AS leased,
                    COUNT(*) FILTER (WHERE due > ?1 AND lease IS NULL) AS deferred, MIN(due) AS next,
                    (SELECT COUNT(*) FROM entries) AS waiting
                FROM queues
                """, [count.now])
            let devices = try db.row(
                """
                SELECT COUNT(*) AS devices, COUNT(*) FILTER (WHERE reachable) AS reachable,
                    MIN(valid_until) FILTER (WHERE reachable AND holds) AS expiry,
                    COUNT(*) FILTER (WHERE reachable AND holds AND valid_until < ?2) AS expiring
                FROM (SELECT valid_until, is_verified AND valid_until >= ?1 AS holds,
                    \(RowCondition.isReachable.sql.condition) AS reachable FROM devices)
                """, [count.second, count.expiresSoon])
            guard let totals, let devices else { throw OutboxError.damaged }
            try status.count(devices)
            status.waitingCount = try totals.count("waiting")
            status.queues = try OutboxStatus.Queues(totals)
            status.nextDue = count.nextDue(try totals.optionalInt("next"))
            for (age, enqueued) in count.ages {
                status.waitingByAge[age] = try Self.count(enqueuedBefore: enqueued, in: db)
            }
            status.waitingBySender = try Self.senders(of: "entries", in: db)
            status.deadLettersBySender = try Self.senders(of: "dead_letters", in: db)
            let carriers = try Self.counts(
                """
                SELECT name, count FROM (SELECT carrier, COUNT(*) AS count FROM queues GROUP BY carrier)
                JOIN carriers ON id = carrier
                """, in: db)
            status.waitingDevices = OutboxStatus.parsed(carriers) { Carrier($0) }
            status.deadLetters = try Self.counts(
                "SELECT reason AS name, COUNT(*) AS count FROM dead_letters GROUP BY reason", in: db)
            status.outcomes = try Self.counts(
                """
                SELECT outcome AS name, \(SafeNumber.total("count")) AS count FROM tallies
                WHERE day > ? AND outcome NOT GLOB ? GROUP BY outcome
                """, [count.lastUncountedDay, "\(ReceiptTally.prefix)*"], in: db)
            status.fileByteCount = try ["page_count", "page_size"].reduce(1) { size, name in
                try size * (db.value("PRAGMA \(name)") ?? 0)
            }
            return status
        }
    }

    func deadLetters(_ condition: PushCondition, offset: Int, limit: Int) async throws(OutboxError) -> [DeadLetter] {
        let (sql, arguments) = condition.rows.sql
        return try await read { db in
            try db.rows(
                """
                SELECT apns_id, \(DeviceTable.nameColumn), reason, attempts, enqueued, buried
                FROM dead_letters LEFT JOIN devices ON devices.id = dead_letters.device
                WHERE \(sql) ORDER BY dead_letters.id LIMIT ? OFFSET ?
                """, arguments + [limit, offset]
            ).map { try DeadLetter($0) }
        }
    }

    /// Returns the count for each name.
    static func counts(_ sql: String, _ arguments: StatementArguments = [], in db: Database) throws -> [String: Int] {
        Dictionary(
            try db.rows(sql, arguments).map { (try $0.text("name"), try $0.count("count")) }, uniquingKeysWith: +)
    }

    /// Returns the number of rows of a table for each sender; reads only an index.
    private static func senders(of table: String, in db: Database) throws -> [SealedBy: Int] {
        let counts = try counts(
            """
            SELECT name, count FROM (
                SELECT sender, COUNT(*) AS count FROM \(table) INDEXED BY \(table)_by_sender GROUP BY sender)
            JOIN senders ON senders.id = sender
            """, in: db)
        return OutboxStatus.parsed(counts) { SealedBy(parsing: $0) }
    }

    /// Returns the number of entries that were enqueued before a time. Entries are numbered in order, so a binary search finds the
    /// boundary, and an index is counted. The bodies, by far the largest part of the file, aren't read.
    private static func count(enqueuedBefore boundary: Int64, in db: Database) throws -> Int {
        // SQLite assigns no number below 1 or above the largest.
        var low: Int64 = 0
        var high: Int64 = try min(db.value("SELECT MAX(id) FROM entries") ?? 0, .max - 1) + 1
        while low < high {
            let middle = low + (high - low) / 2
            let row = try db.row("SELECT id, enqueued FROM entries WHERE id >= ? ORDER BY id LIMIT 1", [middle])
            if let row, try row.int("enqueued") < boundary {
                low = try min(row.int("id"), .max - 1) + 1
            } else {
                high = middle
            }
        }
        return try db.value("SELECT COUNT(*) FROM entries INDEXED BY entries_by_device WHERE id < ?", [low]) ?? 0
    }
}

extension RowCondition {
    /// The condition in SQL, and its arguments, which are numbered from 1.
    var sql: (condition: String, arguments: StatementArguments) {
        let (condition, values) = sql { column, number in
            // Senders are stored by number; see ``NameTable``.
            column == .sender ? "(SELECT senders.id FROM senders WHERE senders.name = ?\(number))" : "?\(number)"
        }
        let arguments = values.map { value in
            switch value {
            case .int(let number): number.databaseValue
            case .text(let text): text.databaseValue
            }
        }
        return (condition, StatementArguments(arguments))
    }
}
