#if Postgres
    import PushOutbox
    import PushSender
    import SealedPush

    extension PostgresStore {
        func retry(reason: String?) async throws(OutboxError) -> Int {
            var total = 0
            while true {
                let count = try await write { db, now throws(OutboxError) in
                    try Self.retryBatch(reason: reason, at: now, db)
                }
                total += count
                if count < Self.batchCount { return total }
            }
        }

        func retryNow() async throws(OutboxError) {
            try await write { db, now throws(OutboxError) in
                try db.rows("UPDATE sealed_push.queues SET due = $1 WHERE due > $1 AND lease IS NULL", [.int(now)])
                try db.rows("SELECT sealed_push.wake()")
            }
        }

        func purge(_ scope: PurgeScope) async throws(OutboxError) -> Int {
            if case .sealed(let sealedBy) = scope { return try await purge(sealedBy) }
            var total = try await purgeStale()
            switch scope {
            case .stale, .sealed: break
            case .deadLetters(let reason):
                total += try await removeDeadLetters("$1::text IS NULL OR reason = $1", .text(reason))
            case .everything:
                total += try await removeDeadLetters("$1::text IS NULL", .text(nil))
                total += try await remove("$1::bigint IS NULL", .int(nil), outcome: Tally.purged)
            }
            return total
        }

        /// Nothing where the clocks disagree: neither who asks nor a courier, by itself, may throw all away for that.
        private func purgeStale() async throws(OutboxError) -> Int {
            let time: Int64? = try await write { db, now throws(OutboxError) -> Int64? in
                guard self.isCertain(now) else { return nil }
                try db.rows("DELETE FROM sealed_push.requests WHERE created < $1", [.int(now - EnqueueOrder.lifetime)])
                try Self.sumUp("tallies", keeping: 60, at: now, db)
                try Self.purgeReceipts(at: now, db)
                return now
            }
            guard let time else { return 0 }
            _ = try await removeDeadLetters("stale <= $1", .int(time))
            return try await remove("stale <= $1", .int(time), outcome: Tally.expired)
        }

        /// A sum of counts that holds whatever somebody has written there.
        static let sum = "least(greatest(sum(count), 0), 9223372036854775807)::bigint"

        /// One row for each day and outcome of what is over, in place of those that came one after another.
        static func sumUp(
            _ table: String, keeping days: Int64, at now: Int64, _ db: PostgresConnection
        ) throws(OutboxError) {
            let today = now / Tally.millisecondsPerDay
            try db.rows(
                """
                WITH old AS (DELETE FROM sealed_push.\(table) WHERE day < $1 RETURNING day, outcome, count)
                INSERT INTO sealed_push.\(table)(day, outcome, count)
                SELECT day, outcome, \(sum) FROM old WHERE day >= $2 GROUP BY day, outcome
                """, [.int(today), .int(today - days)])
        }

        private func purge(_ sealedBy: SealedBy) async throws(OutboxError) -> Int {
            let id = try await read { db, _ throws(OutboxError) in try Self.senderID(sealedBy, db) }
            guard let id else { return 0 }
            return try await removeDeadLetters("sender = $1", .int(id))
                + remove("sender = $1", .int(id), outcome: Tally.purged)
        }

        private func removeDeadLetters(
            _ condition: String, _ argument: PostgresValue
        ) async throws(OutboxError) -> Int {
            var total = 0
            while true {
                let count = try await write { db, _ throws(OutboxError) in
                    try db.rows(
                        """
                        DELETE FROM sealed_push.dead_letters
                        WHERE id IN (SELECT id FROM sealed_push.dead_letters WHERE \(condition) LIMIT \(Self.batchCount))
                        """, [argument]
                    ).changedCount
                }
                total += count
                if count < Self.batchCount { return total }
            }
        }

        /// Removes entries, and the queues that are empty then; where one is on its way, the device's turn is not given to another.
        private func remove(
            _ condition: String, _ argument: PostgresValue, outcome: String
        ) async throws(OutboxError) -> Int {
            var total = 0
            while true {
                let count = try await write { db, now throws(OutboxError) in
                    let removed = try db.rows(
                        """
                        DELETE FROM sealed_push.entries WHERE id IN (
                            SELECT id FROM sealed_push.entries WHERE \(condition) LIMIT \(Self.batchCount)
                            FOR UPDATE SKIP LOCKED) RETURNING device
                        """, [argument])
                    let devices = Set(try removed.map { row throws(OutboxError) in try row.int("device") })
                    let free = try Self.lockQueues(
                        of: Array(devices), where: "(lease IS NULL OR due <= \(now))", skipsLocked: true, db)
                    try Self.removeEmpty(Array(free.values), db)
                    try Self.tally(outcome, removed.count, at: now, db)
                    return removed.count
                }
                total += count
                if count < Self.batchCount { return total }
            }
        }

        private static func retryBatch(reason: String?, at now: Int64, _ db: PostgresConnection) throws(OutboxError)
            -> Int
        {
            try db.rows(
                """
                UPDATE sealed_push.devices SET token_refusal = NULL, \(nextRevision)
                WHERE token IS NOT NULL AND token_refusal IS NOT NULL AND ($1::text IS NULL OR token_refusal = $1)
                    AND id IN (SELECT device FROM sealed_push.dead_letters)
                """, [.text(reason)])
            let rows = try db.rows(
                """
                SELECT l.id, l.device, l.priority
                FROM sealed_push.dead_letters l JOIN sealed_push.devices d ON d.id = l.device
                WHERE ($1::text IS NULL OR l.reason = $1) AND l.stale > $2 AND d.token IS NOT NULL
                    AND d.token_refusal IS NULL AND \(PostgresSchema.isWithinBounds("l"))
                ORDER BY l.device, l.id LIMIT \(batchCount) FOR UPDATE OF l SKIP LOCKED FOR NO KEY UPDATE OF d
                """, [.text(reason), .int(now)])
            guard !rows.isEmpty else { return 0 }
            let ids = try rows.map { row throws(OutboxError) in try row.int("id") }
            // They are older than what has come since: the scans begin with them.
            var queues: [Queue] = []
            for queue in try rows.map({ row throws(OutboxError) in
                Queue(device: try row.int("device"), priority: try row.int("priority"), head: try row.int("id"))
            }) {
                guard let last = queues.last, last.device == queue.device else {
                    queues.append(queue)
                    continue
                }
                queues[queues.count - 1] = Queue(
                    device: last.device, priority: max(last.priority, queue.priority), head: last.head)
            }
            try db.rows(
                "SELECT sealed_push.line_up($1, $2, $3, $4)",
                [
                    .ints(queues.map(\.device)), .ints(queues.map(\.priority)), .ints(queues.map(\.head)), .int(now),
                ])
            try db.rows(
                """
                WITH back AS (DELETE FROM sealed_push.dead_letters WHERE id = ANY($1) RETURNING \(entryColumns))
                INSERT INTO sealed_push.entries(\(entryColumns)) SELECT \(entryColumns) FROM back
                """, [.ints(ids)])
            try db.rows("SELECT sealed_push.wake()")
            return ids.count
        }

        private static let batchCount = 1_000

        /// What waits again for one device.
        private struct Queue {
            let device: Int64
            let priority: Int64
            /// Its oldest entry.
            let head: Int64
        }

        // MARK: Dead letters and sums

        /// Moves entries to the dead letters, still sealed; returns how many that were.
        ///
        /// - Parameter value: `$4` of the condition.
        private static func bury(
            _ condition: String, _ value: PostgresValue, reason: String, attempts: Int, at now: Int64,
            _ db: PostgresConnection
        ) throws(OutboxError) -> Int {
            try db.rows(
                """
                WITH gone AS (DELETE FROM sealed_push.entries WHERE \(condition) RETURNING \(entryColumns)),
                    buried AS (
                        INSERT INTO sealed_push.dead_letters(\(entryColumns), reason, attempts, died)
                        SELECT \(entryColumns), $1, $2, $3 FROM gone ON CONFLICT (id) DO NOTHING)
                SELECT count(*) AS count FROM gone
                """, [.text(reason), .int(Int64(attempts)), .int(now), value]
            ).first?.count("count") ?? 0
        }

        /// Moves all that waits for a device to the dead letters; returns how many that were.
        static func buryAll(
            of device: Int64, reason: String, at now: Int64, _ db: PostgresConnection
        ) throws(OutboxError) -> Int {
            let count = try bury("device = $4", .int(device), reason: reason, attempts: 0, at: now, db)
            try removeQueue(of: device, db)
            return count
        }

        static func removeQueue(of device: Int64, _ db: PostgresConnection) throws(OutboxError) {
            let places = try lockQueues(of: [device], db).values
            try db.rows("DELETE FROM sealed_push.queues WHERE ctid = ANY($1)", [.places(Array(places))])
        }

        static func bury(
            _ ids: [Int64], reason: String, attempts: Int = 0, at now: Int64, _ db: PostgresConnection
        ) throws(OutboxError) -> Int {
            try bury("id = ANY($4)", .ints(ids), reason: reason, attempts: attempts, at: now, db)
        }

        static func tally(
            _ outcome: String, _ count: Int = 1, at now: Int64, _ db: PostgresConnection
        ) throws(OutboxError) {
            guard count > 0 else { return }
            try db.rows(
                "INSERT INTO sealed_push.tallies(day, outcome, count) VALUES ($1, $2, $3)",
                [.int(now / Tally.millisecondsPerDay), .text(outcome), .int(Int64(count))])
        }

        static let entryColumns =
            "id, device, priority, enqueued, stale, expiration, apns_id, collapse_id, body, sender, code"
    }
#endif
