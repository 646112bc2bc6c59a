internal import GRDB
import PushSender
import SealedPush

extension SQLiteStore {
    func retry(reason: String?) async throws(OutboxError) -> Int {
        try await inBatches { db, now in try Self.retryBatch(reason: reason, at: now, in: db) }
    }

    func retryNow() async throws(OutboxError) -> Int {
        try await write { db, now in
            try db.run("UPDATE queues SET due = ?1 WHERE due > ?1 AND lease IS NULL", [now])
            return db.changesCount
        }
    }

    func purge(_ scope: PurgeScope) async throws(OutboxError) -> Int {
        switch scope {
        case .stale: return try await purgeStale()
        case .records:
            _ = try await purgeRecords()
            return 0
        case .deadLetters(let reason):
            return try await removeDeadLetters("reason = ?1 OR ?1 IS NULL AND reason <> ?2", [reason, Tally.expired])
        case .sealed(let sealedBy):
            let id = try await read { try NameTable.senders.id(of: sealedBy.description, in: $0) }
            guard let id else { return 0 }
            return try await removeDeadLetters("sender = ?", [id]) + remove("sender = ?", [id], outcome: Tally.purged)
        case .everything:
            _ = try await purgeRecords()
            return try await removeDeadLetters("true") + remove("true", outcome: Tally.purged)
        }
    }

    /// Returns the time.
    private func purgeRecords() async throws(OutboxError) -> Int64 {
        try await write { db, now in
            for table in ["requests", "outcomes"] {
                try db.run("DELETE FROM \(table) WHERE created < ?", [now - EnqueueOrder.lifetime])
            }
            try db.run(
                "DELETE FROM tallies WHERE day < ?", [(now - 2 * EnqueueOrder.lifetime) / Tally.millisecondsPerDay])
            try db.run("DELETE FROM logins WHERE ended < ?", [now - Outbox.keptLogins])
            try ReceiptTable.purge(at: now, in: db)
            return now
        }
    }

    private func purgeStale() async throws(OutboxError) -> Int {
        let now = try await purgeRecords()
        let count = try await removeDeadLetters("stale <= ?", [now])
        // The second condition is the one in the index: entries that live for less than 30 days. The others are at the
        // front of the table, since they are in order.
        let short = "stale <= ? AND stale < enqueued + 2592000000"
        let old = "stale <= ? AND id IN (SELECT id FROM entries ORDER BY id LIMIT \(Self.batchCount))"
        return try await count + remove(short, [now], outcome: Tally.expired)
            + remove(old, [now], outcome: Tally.expired)
    }

    private func removeDeadLetters(
        _ condition: String, _ arguments: StatementArguments = []
    ) async throws(OutboxError) -> Int {
        let sql = """
            DELETE FROM dead_letters
            WHERE id IN (SELECT id FROM dead_letters WHERE \(condition) LIMIT \(Self.batchCount))
            """
        return try await inBatches { db, _ in
            try db.run(sql, arguments)
            return db.changesCount
        }
    }

    /// Removes entries and the queues that become empty. A queue with an entry in transit stays with its holder.
    private func remove(
        _ condition: String, _ arguments: StatementArguments = [], outcome: String
    ) async throws(OutboxError) -> Int {
        let sql = "SELECT id, device FROM entries WHERE \(condition) LIMIT \(Self.batchCount)"
        return try await inBatches { db, now in
            let rows = try db.rows(sql, arguments)
            for row in rows {
                let device = try row.int("device")
                try EntryTable.remove(try row.int("id"), outcome, at: now, in: db)
                guard try EntryTable.head(of: device, in: db) == nil else { continue }
                try db.run("DELETE FROM queues WHERE device = ? AND (lease IS NULL OR due <= ?)", [device, now])
            }
            return rows.count
        }
    }

    /// Repeats a transaction until it processes less than a whole batch, and returns the total.
    private func inBatches(
        _ body: @escaping @Sendable (Database, Int64) throws -> Int
    ) async throws(OutboxError) -> Int {
        var total = 0
        while true {
            let count = try await write(body)
            total += count
            if count < Self.batchCount { return total }
        }
    }

    private static func retryBatch(reason: String?, at now: Int64, in db: Database) throws -> Int {
        try db.run(
            """
            UPDATE devices SET token_refusal = NULL, \(SafeNumber.nextRevision)
            WHERE token IS NOT NULL AND token_refusal IS NOT NULL AND (?1 IS NULL OR token_refusal = ?1)
                AND id IN (SELECT device FROM dead_letters)
            """, [reason])
        let rows = try db.rows(
            """
            SELECT dead_letters.id, device, priority, carrier, reason
            FROM dead_letters JOIN devices ON devices.id = device
            WHERE (?1 IS NULL OR reason = ?1) AND stale > ?2 AND token IS NOT NULL AND token_refusal IS NULL
                -- If a waiting entry has the number, one of the two was tampered with.
                AND NOT EXISTS (SELECT 1 FROM entries WHERE entries.id = dead_letters.id)
            ORDER BY dead_letters.id LIMIT ?3
            """, [reason, now, batchCount])
        for row in rows {
            let id = try row.int("id")
            let outcome = Tally.dead(try row.text("reason"))
            try EntryTable.note(outcome, "id", id, of: "dead_letters", count: -1, at: now, in: db)
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

    private static let batchCount = 1_000

    // MARK: Status

    func status() async throws(OutboxError) -> OutboxStatus {
        let now = clock.now()
        return try await read { db in
            var status = OutboxStatus()
            let totals = try db.row(
                """
                SELECT COUNT(*) FILTER (WHERE due <= ?1) AS due,
                    COUNT(*) FILTER (WHERE due > ?1 AND lease IS NOT NULL) AS leased,
                    COUNT(*) FILTER (WHERE due > ?1 AND lease IS NULL) AS deferred, MIN(due) AS next,
                    (SELECT COUNT(*) FROM entries) AS waiting
                FROM queues
                """, [now])
            let devices = try db.row(
                """
                SELECT COUNT(*) AS devices, COUNT(*) FILTER (WHERE reachable) AS reachable,
                    MIN(valid_until) FILTER (WHERE reachable AND holds) AS expiry,
                    COUNT(*) FILTER (WHERE reachable AND holds AND valid_until < ?1 + 2592000) AS expiring
                FROM (SELECT valid_until, is_verified AND valid_until >= ?1 AS holds,
                    token IS NOT NULL AND token_refusal IS NULL AS reachable FROM devices)
                """, [now / 1_000])
            guard let totals, let devices else { throw OutboxError.damaged }
            try status.count(devices)
            status.waitingCount = try totals.count("waiting")
            status.queues = try OutboxStatus.Queues(totals)
            status.nextDue = try totals.optionalInt("next").map { Timestamp(clamping: max($0, now) / 1_000) }
            for age in OutboxStatus.ages { status.waitingByAge[age] = try Self.count(olderThan: age, at: now, in: db) }
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
                """, [(now - EnqueueOrder.lifetime) / Tally.millisecondsPerDay, "\(ReceiptTally.prefix)*"], in: db)
            status.fileByteCount = try ["page_count", "page_size"].reduce(1) { size, name in
                try size * (db.value("PRAGMA \(name)") ?? 0)
            }
            return status
        }
    }

    func deadLetters(reason: String?, offset: Int, limit: Int) async throws(OutboxError) -> [DeadLetter] {
        try await read { db in
            try db.rows(
                """
                SELECT apns_id, \(DeviceTable.nameColumn), reason, attempts, enqueued, died
                FROM dead_letters LEFT JOIN devices ON devices.id = dead_letters.device
                WHERE ?1 IS NULL OR reason = ?1 ORDER BY dead_letters.id LIMIT ?2 OFFSET ?3
                """, [reason, limit, offset]
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

    /// Returns the number of entries older than an age. Entries are numbered in order, so a binary search finds the
    /// boundary, and an index is counted. The bodies, by far the largest part of the file, aren't read.
    private static func count(olderThan age: Duration, at now: Int64, in db: Database) throws -> Int {
        let boundary = now - age.milliseconds
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
