#if Postgres
import PushOutbox
import PushSender
import SealedPush

extension PostgresStore {
    /// Letters that don't have the form of a push stay, because nobody enqueued them.
    func requeue(_ requeuing: Requeuing, limit: Int) async throws(OutboxError) -> Int {
        guard requeuing.isWaiting else {
            return try await write { db, now throws(OutboxError) in
                try Self.requeue(requeuing, limit: limit, at: now, db)
            }
        }
        return try await write(holding: nil) { db, now throws(OutboxError) in
            try Self.requeue(requeuing, limit: limit, at: now, db)
        }
    }

    private static func requeue(
        _ requeuing: Requeuing, limit: Int, at now: Int64, _ db: PostgresConnection
    ) throws(OutboxError) -> Int {
        let skip = requeuing.isWaiting ? "" : "SKIP LOCKED"
        let (addresses, letters) = (requeuing.addresses.sql, requeuing.letters(at: now).sql)
        try db.rows(
            """
            UPDATE sealed_push.devices SET token_refusal = NULL, \(nextRevision)
            WHERE id IN (
                SELECT d.id FROM sealed_push.devices d
                WHERE \(addresses.condition) AND d.id IN (SELECT device FROM sealed_push.dead_letters)
                ORDER BY d.id FOR NO KEY UPDATE \(skip))
            """, addresses.values)
        let rows = try db.rows(
            """
            SELECT l.id, l.reason, l.buried FROM sealed_push.dead_letters l JOIN sealed_push.devices d ON d.id = l.device
            WHERE \(letters.condition) AND \(RowCondition.isReachable.sql.condition)
                AND NOT EXISTS (SELECT 1 FROM sealed_push.entries e WHERE e.id = l.id)
                AND sealed_push.are_pushes(l.message, ARRAY[l.priority::bigint], ARRAY[l.sender], ARRAY[l.send_until],
                    ARRAY[l.expiration], ARRAY[l.apns_id], ARRAY[l.collapse_id], ARRAY[l.body], ARRAY[l.code])
            ORDER BY l.device, l.id LIMIT \(limit)
            FOR UPDATE OF l SKIP LOCKED FOR NO KEY UPDATE OF d \(skip)
            """, letters.values)
        guard !rows.isEmpty else { return 0 }
        let ids = PostgresValue.ints(try rows.map { row throws(OutboxError) in try row.int("id") })
        let endings = try rows.map { row throws(OutboxError) in
            PushEnding(requeueing: try row.text("reason"), buriedAt: try row.int("buried"))
        }
        // Requeued entries are older than those that have arrived since, so scans begin with them.
        try db.rows(
            """
            SELECT sealed_push.line_up(array_agg(device), priority, array_agg(head), $2)
            FROM (
                SELECT device, max(priority)::bigint AS priority, min(id) AS head
                FROM sealed_push.dead_letters WHERE id = ANY($1) GROUP BY device) AS back
            GROUP BY priority
            """, [ids, .int(now)])
        try db.rows(
            """
            WITH gone AS (
                DELETE FROM sealed_push.dead_letters l
                USING unnest($1::bigint[], $2::text[], $3::bigint[]) AS x(letter, outcome, ended) WHERE l.id = x.letter
                RETURNING \(entryColumns), x.outcome, x.ended),
                \(PostgresSchema.counted("outcome", at: "ended", step: -1))
            INSERT INTO sealed_push.entries(\(entryColumns)) SELECT \(entryColumns) FROM gone
            """, [ids, .texts(endings.map(\.outcome)), .ints(endings.map(\.time))])
        try db.rows("SELECT sealed_push.wake()")
        return rows.count
    }

    /// Begins with the queues that no other transaction holds.
    func retryNow() async throws(OutboxError) -> Int {
        try await write { db, now throws(OutboxError) in
            try Self.makeDue(now, skippingHeld: true, db)
        }
            + write(holding: nil) { db, now throws(OutboxError) in
                try Self.makeDue(now, skippingHeld: false, db)
            }
    }

    private static func makeDue(
        _ now: Int64, skippingHeld: Bool, _ db: PostgresConnection
    ) throws(OutboxError) -> Int {
        let changed = try db.rows(
            """
            UPDATE sealed_push.queues SET due = $1 WHERE ctid = ANY(ARRAY(
                SELECT ctid FROM sealed_push.queues WHERE due > $1 AND lease IS NULL
                ORDER BY device FOR UPDATE \(skippingHeld ? "SKIP LOCKED" : "")))
            """, [.int(now)])
        try db.rows("SELECT sealed_push.wake()")
        return changed.changedCount
    }

    /// A no-op if the clocks disagree, because neither a caller nor a courier may delete everything for that reason. Ends
    /// of logins are deleted by ``endLogins(of:at:)``: a login that delivers can't write them.
    func removeRecords() async throws(OutboxError) -> Int64? {
        try await write { db, now throws(OutboxError) -> Int64? in
            guard self.isCertain(now) else { return nil }
            let limits = RecordLimits(at: now)
            for table in ["requests", "outcomes"] {
                try db.rows("DELETE FROM sealed_push.\(table) WHERE created < $1", [.int(limits.created)])
            }
            for table in ["tallies", "receipt_tallies"] {
                try Self.sumUp(table, from: limits.tallyDay, at: now, db)
            }
            try db.rows("DELETE FROM sealed_push.receipt_numbers WHERE day < $1", [.int(limits.receiptDay)])
            for table in ["receipt_devices", "receipt_failures"] {
                try db.rows("DELETE FROM sealed_push.\(table) WHERE last < $1", [.int(limits.lastReceipt)])
            }
            return now
        }
    }

    /// A sum of counts that stays in range, even if the rows were tampered with.
    static let sum = "least(greatest(sum(count), 0), 9223372036854775807)::bigint"

    /// Replaces the rows that were added one by one with one row for each outcome on each day from `first` on.
    private static func sumUp(
        _ table: String, from first: Int64, at now: Int64, _ db: PostgresConnection
    ) throws(OutboxError) {
        let today = Day(of: now).number
        try db.rows(
            """
            WITH old AS (DELETE FROM sealed_push.\(table) WHERE day < $1 RETURNING day, outcome, count)
            INSERT INTO sealed_push.\(table)(day, outcome, count)
            SELECT day, outcome, \(sum) FROM old WHERE day >= $2 GROUP BY day, outcome
            """, [.int(today), .int(first)])
    }

    func removeDeadLetters(_ condition: PushCondition, limit: Int) async throws(OutboxError) -> Int {
        let (sql, values) = condition.rows.sql
        return try await write { db, _ throws(OutboxError) in
            try db.rows(
                """
                DELETE FROM sealed_push.dead_letters
                WHERE id IN (SELECT id FROM sealed_push.dead_letters WHERE \(sql) LIMIT \(limit))
                """, values
            ).changedCount
        }
    }

    func removeEntries(_ condition: PushCondition, outcome: String, limit: Int) async throws(OutboxError) -> Int {
        let (sql, values) = condition.rows.sql
        return try await write { db, now throws(OutboxError) in
            let some = """
                id IN (SELECT id FROM sealed_push.entries WHERE \(sql) LIMIT \(limit) FOR UPDATE SKIP LOCKED)
                """
            let removed = try Self.removeEntries(some, values, PushEnding(outcome, at: now), db)
            let free = try Self.lockQueues(of: Array(Set(removed)), freeAt: now, skipsLocked: true, db)
            try Self.removeEmpty(Array(free.values), db)
            return removed.count
        }
    }

    // MARK: Dead letters and sums

    /// Removes the entries that `condition` selects, counts their end, and returns the device of each.
    @discardableResult
    static func removeEntries(
        _ condition: String, _ values: [PostgresValue], _ ending: PushEnding, _ db: PostgresConnection
    ) throws(OutboxError) -> [Int64] {
        let (outcome, time) = ("$\(values.count + 1)::text", "$\(values.count + 2)")
        return try db.rows(
            """
            WITH gone AS (DELETE FROM sealed_push.entries WHERE \(condition) RETURNING device, message),
                \(PostgresSchema.counted(outcome, at: time))
            SELECT device FROM gone
            """, values + [.text(ending.outcome), .int(ending.time)]
        ).map { row throws(OutboxError) in try row.int("device") }
    }

    /// Moves entries to the dead letters, still sealed.
    static func bury(
        _ entries: [Int64], reason: String, attempts: Int = 0, at now: Int64, _ db: PostgresConnection
    ) throws(OutboxError) {
        try bury(.ints(entries), .int(nil), reason, attempts, at: now, db)
    }

    private static func bury(
        _ entries: PostgresValue, _ device: PostgresValue, _ reason: String, _ attempts: Int, at now: Int64,
        _ db: PostgresConnection
    ) throws(OutboxError) {
        let ending = PushEnding(burying: reason, at: now)
        try db.rows(
            "SELECT sealed_push.bury($1, $2, $3, $4, $5, $6)",
            [
                entries, device, .text(reason), .text(ending.outcome), .int(Int64(attempts)), .int(ending.time),
            ])
    }

    /// Moves all waiting entries of a device to the dead letters.
    static func buryAll(
        of device: Int64, reason: String, at now: Int64, _ db: PostgresConnection
    ) throws(OutboxError) {
        try bury(.ints([]), .int(device), reason, 0, at: now, db)
        try removeQueue(of: device, db)
    }

    static func removeQueue(of device: Int64, _ db: PostgresConnection) throws(OutboxError) {
        let places = try lockQueues(of: [device], db).values
        try db.rows("DELETE FROM sealed_push.queues WHERE ctid = ANY($1)", [.places(Array(places))])
    }

    private static let entryColumns = PostgresSchema.entryColumns

    // MARK: Status

    func status() async throws(OutboxError) -> OutboxStatus {
        try await read { db, now throws(OutboxError) in
            let count = StatusCount(at: now)
            var status = OutboxStatus()
            let devices = try db.row(
                """
                SELECT count(*) AS devices, count(*) FILTER (WHERE reachable) AS reachable,
                    min(valid_until) FILTER (WHERE reachable AND holds) AS expiry,
                    count(*) FILTER (WHERE reachable AND holds AND valid_until < $2) AS expiring,
                    (SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class
                        WHERE relnamespace = 'sealed_push'::regnamespace AND relkind = 'r') AS size
                FROM (SELECT valid_until, is_verified AND valid_until >= $1 AS holds,
                    \(RowCondition.isReachable.sql.condition) AS reachable FROM sealed_push.devices) AS devices
                """, [.int(count.second), .int(count.expiresSoon)])
            try status.count(devices)
            status.fileByteCount = try devices.count("size")
            let ages = count.ages.indices.map { "count(*) FILTER (WHERE enqueued < $\($0 + 1)) AS age\($0)" }
                .joined(separator: ", ")
            let entries = try db.row(
                "SELECT count(*) AS waiting, \(ages) FROM sealed_push.entries", count.ages.map { .int($0.enqueued) }
            )
            status.waitingCount = try entries.count("waiting")
            for (number, (age, _)) in count.ages.enumerated() {
                status.waitingByAge[age] = try entries.count("age\(number)")
            }
            status.waitingBySender = try Self.senders("entries", db)
            status.deadLettersBySender = try Self.senders("dead_letters", db)
            let queues = try db.row(
                """
                SELECT count(*) FILTER (WHERE due <= $1) AS due,
                    count(*) FILTER (WHERE due > $1 AND lease IS NOT NULL) AS leased,
                    count(*) FILTER (WHERE due > $1 AND lease IS NULL) AS deferred, min(due) AS next
                FROM sealed_push.queues
                """, [.int(now)])
            status.queues = try OutboxStatus.Queues(queues)
            status.nextDue = count.nextDue(try queues.optionalInt("next"))
            status.leasedByHost = try db.counts(
                by: "coalesce(holder, 'unknown')", in: "queues", where: "due > $1 AND lease IS NOT NULL",
                [.int(now)])
            let carriers = try db.counts(by: "carrier", in: "queues")
            status.waitingDevices = OutboxStatus.parsed(carriers) { Carrier($0) }
            status.deadLetters = try db.counts(by: "reason", in: "dead_letters")
            status.outcomes = try db.counts(
                by: "outcome", in: "tallies", where: "day > $1",
                [.int(count.lastUncountedDay)], sum: Self.sum)
            return status
        }
    }

    func deadLetters(
        _ condition: PushCondition, offset: Int, limit: Int
    ) async throws(OutboxError) -> [DeadLetter] {
        let (sql, values) = condition.rows.sql
        return try await read { db, _ throws(OutboxError) in
            let rows = try db.rows(
                """
                SELECT l.apns_id, d.name, l.reason, l.attempts, l.enqueued, l.buried
                FROM sealed_push.dead_letters l LEFT JOIN sealed_push.devices d ON d.id = l.device
                WHERE \(sql) ORDER BY l.id LIMIT $\(values.count + 1) OFFSET $\(values.count + 2)
                """, values + [.int(Int64(limit)), .int(Int64(offset))])
            return try rows.map { row throws(OutboxError) in try DeadLetter(row) }
        }
    }

    private static func senders(_ table: String, _ db: PostgresConnection) throws(OutboxError) -> [SealedBy: Int] {
        let counts = try db.counts(by: "sender", in: table, where: "sender IS NOT NULL")
        return OutboxStatus.parsed(counts) { SealedBy(parsing: $0) }
    }
}

extension RowCondition {
    /// The condition in SQL, and the values of its parameters, which are numbered from 1.
    var sql: (condition: String, values: [PostgresValue]) {
        let (condition, values) = sql { _, number in "$\(number)" }
        return (
            condition,
            values.map { value in
                switch value {
                case .int(let number): .int(number)
                case .text(let text): .text(text)
                }
            }
        )
    }
}
#endif
