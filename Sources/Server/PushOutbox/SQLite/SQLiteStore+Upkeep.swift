internal import GRDB

extension SQLiteStore {
    func retry(reason: String?) async throws(OutboxError) -> Int {
        let now = clock.now()
        var total = 0
        while true {
            let count = try await write { try Self.retryBatch(reason: reason, at: now, in: $0) }
            total += count
            if count < Self.batchCount { return total }
        }
    }

    func retryNow() async throws(OutboxError) {
        let now = clock.now()
        try await write { db in
            try db.execute(sql: "UPDATE queues SET due = ?1 WHERE due > ?1 AND lease IS NULL", arguments: [now])
        }
    }

    func purge(_ scope: PurgeScope) async throws(OutboxError) -> Int {
        if case .sealed(let sealedBy) = scope { return try await purge(sealedBy) }
        let now = clock.now()
        var total = try await purgeStale(at: now)
        switch scope {
        case .stale, .sealed: break
        case .deadLetters(let reason): total += try await purgeDeadLetters(reason: reason)
        case .everything: total += try await purgeDeadLetters(reason: nil) + purgeEntries()
        }
        return total
    }

    private func purgeStale(at now: Int64) async throws(OutboxError) -> Int {
        try await write { db in
            try db.execute(sql: "DELETE FROM requests WHERE created < ?", arguments: [now - EnqueueOrder.lifetime])
            try db.execute(
                sql: "DELETE FROM tallies WHERE day < ?",
                arguments: [(now - 2 * EnqueueOrder.lifetime) / Tally.millisecondsPerDay])
            try ReceiptTable.purge(at: now, in: db)
        }
        // The second condition is the index's own: those that are to live shorter than the 30 days. The others are at the
        // front of the table, since they come in order.
        let short = "SELECT id FROM entries WHERE stale <= ?1 AND stale < enqueued + 2592000000 LIMIT ?2"
        let old = """
            SELECT id FROM (SELECT id, stale FROM entries ORDER BY id LIMIT ?2) WHERE stale <= ?1
            """
        var total = 0
        _ = try await removeDeadLetters("stale <= ?1", [now])
        for selection in [short, old] {
            var count = Self.batchCount
            while count == Self.batchCount {
                count = try await remove(selection, [now, Self.batchCount], outcome: Tally.expired)
                total += count
            }
        }
        return total
    }

    private func purge(_ sealedBy: SealedBy) async throws(OutboxError) -> Int {
        guard let id = try await read({ try SenderTable.id(of: sealedBy, in: $0) }) else { return 0 }
        var total = try await removeDeadLetters("sender = ?1", [id])
        while true {
            let count = try await remove(
                "SELECT id FROM entries WHERE sender = ?1 LIMIT ?2", [id, Self.batchCount], outcome: Tally.purged)
            total += count
            if count < Self.batchCount { return total }
        }
    }

    private func purgeEntries() async throws(OutboxError) -> Int {
        var total = 0
        while true {
            let count = try await remove(
                "SELECT id FROM entries LIMIT ?2", [0, Self.batchCount], outcome: Tally.purged)
            total += count
            if count < Self.batchCount { return total }
        }
    }

    private func purgeDeadLetters(reason: String?) async throws(OutboxError) -> Int {
        try await removeDeadLetters("?1 IS NULL OR reason = ?1", [reason])
    }

    private func removeDeadLetters(_ condition: String, _ arguments: StatementArguments) async throws(OutboxError)
        -> Int
    {
        var total = 0
        while true {
            let count = try await write { db in
                try db.execute(
                    sql: """
                        DELETE FROM dead_letters
                        WHERE id IN (SELECT id FROM dead_letters WHERE \(condition) LIMIT \(Self.batchCount))
                        """, arguments: arguments)
                return db.changesCount
            }
            total += count
            if count < Self.batchCount { return total }
        }
    }

    /// Removes entries, and the queues that are empty then; where one is on its way, the device's turn is not given to another.
    private func remove(
        _ selection: String, _ arguments: StatementArguments, outcome: String
    ) async throws(OutboxError) -> Int {
        let now = clock.now()
        return try await write { db in
            let rows = try Row.fetchAll(
                db, sql: "SELECT id, device FROM entries WHERE id IN (\(selection))", arguments: arguments)
            for row in rows {
                let device: Int64 = try row.value("device")
                _ = try EntryTable.remove(try row.value("id"), in: db)
                guard try EntryTable.head(of: device, in: db) == nil else { continue }
                try QueueTable.removeUnlessLeased(device, at: now, in: db)
            }
            try Tally.add(outcome, rows.count, at: now, in: db)
            return rows.count
        }
    }

    private static func retryBatch(reason: String?, at now: Int64, in db: Database) throws -> Int {
        try db.execute(
            sql: """
                UPDATE devices SET token_refusal = NULL, revision = revision + 1
                WHERE token IS NOT NULL AND token_refusal IS NOT NULL AND (?1 IS NULL OR token_refusal = ?1)
                    AND id IN (SELECT device FROM dead_letters)
                """, arguments: [reason])
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT dead_letters.id, device, priority, carrier
                FROM dead_letters JOIN devices ON devices.id = device
                WHERE (?1 IS NULL OR reason = ?1) AND stale > ?2 AND token IS NOT NULL AND token_refusal IS NULL
                ORDER BY dead_letters.id LIMIT ?3
                """, arguments: [reason, now, batchCount])
        for row in rows {
            let id: Int64 = try row.value("id")
            try db.cachedStatement(
                sql:
                    "INSERT INTO entries(\(EntryTable.columns)) SELECT \(EntryTable.columns) FROM dead_letters WHERE id = ?"
            ).execute(arguments: [id])
            try db.cachedStatement(sql: "DELETE FROM dead_letters WHERE id = ?").execute(arguments: [id])
            try QueueTable.add(
                try row.value("device"), carrier: try row.value("carrier"),
                priority: try row.value("priority"), due: now, in: db)
        }
        return rows.count
    }

    private static let batchCount = 1_000
}
