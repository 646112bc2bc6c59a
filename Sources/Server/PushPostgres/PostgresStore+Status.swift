#if Postgres
    import PushOutbox
    import PushSender
    import SealedPush

    extension PostgresStore {
        func status() async throws(OutboxError) -> OutboxStatus {
            try await read { db, now throws(OutboxError) in
                var status = OutboxStatus()
                if let row = try db.rows(
                    """
                    SELECT count(*) AS devices,
                        count(*) FILTER (WHERE token IS NOT NULL AND token_refusal IS NULL) AS reachable,
                        pg_total_relation_size('sealed_push.entries') + pg_total_relation_size('sealed_push.queues')
                            + pg_total_relation_size('sealed_push.dead_letters')
                            + pg_total_relation_size('sealed_push.devices')
                            + pg_total_relation_size('sealed_push.enrollments') AS size
                    FROM sealed_push.devices
                    """
                ).first {
                    status.deviceCount = try row.count("devices")
                    status.reachableDeviceCount = try row.count("reachable")
                    status.fileByteCount = try row.count("size")
                }
                let ages = OutboxStatus.ages.map { now - $0.milliseconds }
                if let row = try db.rows(
                    """
                    SELECT count(*) AS waiting, count(*) FILTER (WHERE enqueued < $1) AS age0,
                        count(*) FILTER (WHERE enqueued < $2) AS age1, count(*) FILTER (WHERE enqueued < $3) AS age2,
                        count(*) FILTER (WHERE enqueued < $4) AS age3
                    FROM sealed_push.entries
                    """, ages.map { .int($0) }
                ).first {
                    status.waitingCount = try row.count("waiting")
                    for (number, age) in OutboxStatus.ages.enumerated() {
                        status.waitingByAge[age] = try row.count("age\(number)")
                    }
                }
                status.waitingBySender = try Self.senders("entries", db)
                status.deadLettersBySender = try Self.senders("dead_letters", db)
                if let row = try db.rows(
                    """
                    SELECT count(*) FILTER (WHERE due <= $1) AS due,
                        count(*) FILTER (WHERE due > $1 AND lease IS NOT NULL) AS leased,
                        count(*) FILTER (WHERE due > $1 AND lease IS NULL) AS delayed, min(due) AS next
                    FROM sealed_push.queues
                    """, [.int(now)]
                ).first {
                    status.queues = try OutboxStatus.Queues(row)
                    status.nextDue = try row.optionalInt("next").map { Timestamp(clamping: max($0, now) / 1_000) }
                }
                status.leasedByHost = try Self.counts(
                    """
                    SELECT coalesce(holder, 'unknown') AS name, count(*) AS count FROM sealed_push.queues
                    WHERE due > $1 AND lease IS NOT NULL GROUP BY 1
                    """, [.int(now)], db)
                let carriers = try Self.counts(
                    "SELECT carrier AS name, count(*) AS count FROM sealed_push.queues GROUP BY 1", [], db)
                for (name, count) in carriers {
                    if let carrier = Carrier(name) { status.waitingDevices[carrier] = count }
                }
                status.deadLetters = try Self.counts(
                    "SELECT reason AS name, count(*) AS count FROM sealed_push.dead_letters GROUP BY 1", [], db)
                status.outcomes = try Self.counts(
                    "SELECT outcome AS name, \(Self.sum) AS count FROM sealed_push.tallies WHERE day > $1 GROUP BY 1",
                    [.int((now - EnqueueOrder.lifetime) / Tally.millisecondsPerDay)], db)
                return status
            }
        }

        func deadLetters(reason: String?, offset: Int, limit: Int) async throws(OutboxError) -> [DeadLetter] {
            try await read { db, _ throws(OutboxError) in
                let rows = try db.rows(
                    """
                    SELECT l.apns_id, d.name, l.reason, l.attempts, l.enqueued, l.died
                    FROM sealed_push.dead_letters l LEFT JOIN sealed_push.devices d ON d.id = l.device
                    WHERE $1::text IS NULL OR l.reason = $1 ORDER BY l.id LIMIT $2 OFFSET $3
                    """, [.text(reason), .int(Int64(limit)), .int(Int64(offset))])
                return try rows.map { row throws(OutboxError) in try DeadLetter(row) }
            }
        }

        static func counts(
            _ sql: String, _ values: [PostgresValue], _ db: PostgresConnection
        ) throws(OutboxError) -> [String: Int] {
            var counts: [String: Int] = [:]
            for (name, count) in try db.rows(sql, values).map({ row throws(OutboxError) in
                (try row.text("name"), try row.count("count"))
            }) { counts[name, default: 0] += count }
            return counts
        }

        private static func senders(_ table: String, _ db: PostgresConnection) throws(OutboxError) -> [SealedBy: Int] {
            let counts = try counts(
                """
                SELECT s.key AS name, n.count FROM (
                    SELECT sender, count(*) AS count FROM sealed_push.\(table) GROUP BY sender) AS n
                JOIN sealed_push.senders s ON s.id = n.sender
                """, [], db)
            return Dictionary(
                counts.compactMap { name, count in SealedBy(parsing: name).map { ($0, count) } }, uniquingKeysWith: +)
        }
    }
#endif
