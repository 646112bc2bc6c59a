internal import GRDB
import PushSender
import SealedPush

extension SQLiteStore {
    func status() async throws(OutboxError) -> OutboxStatus {
        let now = clock.now()
        return try await read { db in
            var status = OutboxStatus()
            status.deviceCount = try count(db, "SELECT COUNT(*) FROM devices")
            status.reachableDeviceCount = try count(
                db, "SELECT COUNT(*) FROM devices WHERE token IS NOT NULL AND token_refusal IS NULL")
            status.waitingCount = try count(db, "SELECT COUNT(*) FROM entries")
            status.waitingByAge = try OutboxStatus.ages.map { age in
                OutboxStatus.Age(olderThan: age, count: try Self.count(olderThan: age, at: now, in: db))
            }
            status.waitingBySender = try SenderTable.counts(of: "entries", in: db)
            status.deadLettersBySender = try SenderTable.counts(of: "dead_letters", in: db)
            status.queues = try Self.queues(at: now, in: db)
            let carriers = try Row.fetchAll(
                db,
                sql: """
                    SELECT name, count FROM (SELECT carrier, COUNT(*) AS count FROM queues GROUP BY carrier)
                    JOIN carriers ON id = carrier
                    """)
            status.waitingDevices = Dictionary(
                try carriers.compactMap { row in
                    guard let carrier = Carrier(try row.value("name")) else { return nil }
                    return (carrier, try row.count("count"))
                }, uniquingKeysWith: +)
            status.nextDue = try Int64.fetchOne(db, sql: "SELECT MIN(due) FROM queues")
                .map { Timestamp(clamping: max($0, now) / 1_000) }
            status.deadLetters = try Self.counts(
                Row.fetchAll(db, sql: "SELECT reason, COUNT(*) FROM dead_letters GROUP BY reason"))
            status.outcomes = try Self.counts(
                Row.fetchAll(
                    db, sql: "SELECT outcome, SUM(count) FROM tallies WHERE day > ? GROUP BY outcome",
                    arguments: [(now - EnqueueOrder.lifetime) / Tally.millisecondsPerDay]))
            status.fileByteCount = try count(db, "PRAGMA page_count") * count(db, "PRAGMA page_size")
            return status
        }
        @Sendable func count(_ db: Database, _ sql: String) throws -> Int { try Int.fetchOne(db, sql: sql) ?? 0 }
    }

    func deadLetters(reason: String?, offset: Int, limit: Int) async throws(OutboxError) -> [DeadLetter] {
        try await read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT apns_id, name, reason, attempts, enqueued, died
                    FROM dead_letters LEFT JOIN devices ON devices.id = dead_letters.device
                    WHERE ?1 IS NULL OR reason = ?1 ORDER BY dead_letters.id LIMIT ?2 OFFSET ?3
                    """, arguments: [reason, limit, offset]
            ).map { row in
                let name: String? = try row.value("name")
                return DeadLetter(
                    apnsID: try row.value("apns_id"), device: name.flatMap(DeviceName.init(parsing:)),
                    reason: try row.value("reason"), attempts: try row.count("attempts"),
                    enqueued: Timestamp(clamping: try row.value("enqueued") / 1_000),
                    died: Timestamp(clamping: try row.value("died") / 1_000))
            }
        }
    }

    private static func queues(at now: Int64, in db: Database) throws -> OutboxStatus.Queues {
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT COUNT(*) FILTER (WHERE due <= ?1) AS due,
                    COUNT(*) FILTER (WHERE due > ?1 AND lease IS NOT NULL) AS leased,
                    COUNT(*) FILTER (WHERE due > ?1 AND lease IS NULL) AS delayed
                FROM queues
                """, arguments: [now])
        return OutboxStatus.Queues(
            due: try row?.count("due") ?? 0, leased: try row?.count("leased") ?? 0,
            delayed: try row?.count("delayed") ?? 0)
    }

    private static func counts(_ rows: [Row]) throws -> [String: Int] {
        Dictionary(try rows.map { (try $0.value(at: 0), try $0.count(at: 1)) }, uniquingKeysWith: +)
    }

    /// Entries are numbered as they come, so that those of an age are found by bisection and counted in an index: the
    /// bodies, by far the largest part of the file, are not read.
    private static func count(olderThan age: Duration, at now: Int64, in db: Database) throws -> Int {
        let boundary = now - age.milliseconds
        // SQLite gives none below 1, and none behind the largest.
        var low: Int64 = 0
        var high = try min(Int64.fetchOne(db, sql: "SELECT MAX(id) FROM entries") ?? 0, .max - 1) + 1
        while low < high {
            let middle = low + (high - low) / 2
            let row = try Row.fetchOne(
                db.cachedStatement(sql: "SELECT id, enqueued FROM entries WHERE id >= ? ORDER BY id LIMIT 1"),
                arguments: [middle])
            if let row, try row.value("enqueued") < boundary {
                low = try min(row.value("id"), .max - 1) + 1
            } else {
                high = middle
            }
        }
        return try Int.fetchOne(
            db, sql: "SELECT COUNT(*) FROM entries INDEXED BY entries_by_device WHERE id < ?", arguments: [low]) ?? 0
    }
}
