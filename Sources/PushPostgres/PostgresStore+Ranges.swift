#if Postgres
    import PushOutbox
    import PushSender

    /// The parts of all devices that somebody has begun to seal a message for, and nobody has stored.
    extension PostgresStore {
        /// Begins a new one, or returns one that was begun.
        static func nextRange(
            of order: EnqueueOrder, at now: Int64, _ db: PostgresConnection
        ) throws(OutboxError) -> EnqueueBatch {
            guard let digest = order.key?.digest else { return EnqueueBatch(doneWith: 0) }
            let key = PostgresValue.bytes(digest)
            // Whoever else begins one waits until this has moved the position on.
            try db.rows(
                """
                INSERT INTO sealed_push.requests(key, audience, position, is_complete, enqueued, created)
                VALUES ($1, $2, 0, false, 0, $3) ON CONFLICT (key) DO NOTHING
                """, [key, .text(order.audienceText), .int(now)])
            try db.rows("SELECT 1 FROM sealed_push.requests WHERE key = $1 FOR UPDATE", [key])
            guard let progress = try progress(of: order, db), !progress.isComplete else {
                return EnqueueBatch(doneWith: try self.progress(of: order, db)?.enqueuedCount ?? 0)
            }
            if let (found, range) = try begin(order, key, behind: progress.position, db) {
                return EnqueueBatch(candidates: found, range: range, alreadyEnqueuedCount: progress.enqueuedCount)
            }
            // Several who look at the same time find different ones, most times.
            let begun = try db.rows(
                "SELECT start, last FROM sealed_push.ranges WHERE key = $1 ORDER BY random() LIMIT 1", [key])
            guard let row = begun.first else {
                try db.rows("UPDATE sealed_push.requests SET is_complete = true WHERE key = $1", [key])
                return EnqueueBatch(doneWith: progress.enqueuedCount)
            }
            let range = EnqueueRange(start: try row.int("start"), last: try row.int("last"))
            let found = try candidates(
                "topic = $3 AND id + 0 > $1 AND id + 0 <= $2 ORDER BY id + 0",
                [.int(range.start), .int(range.last), .text(order.topic.description)], db)
            return EnqueueBatch(candidates: found, range: range, alreadyEnqueuedCount: progress.enqueuedCount)
        }

        /// Nil where none is left to begin.
        private static func begin(
            _ order: EnqueueOrder, _ key: PostgresValue, behind position: Int64, _ db: PostgresConnection
        ) throws(OutboxError) -> ([EnqueueBatch.Candidate], EnqueueRange)? {
            guard position < .max else { return nil }
            let found = try candidates(
                "topic = $2 AND id + 0 > $1 ORDER BY id + 0 LIMIT $3",
                [.int(position), .text(order.topic.description), .int(Int64(EnqueueBatch.maximumCount))], db)
            let isLast = found.count < EnqueueBatch.maximumCount
            try db.rows(
                "UPDATE sealed_push.requests SET position = $2 WHERE key = $1",
                [key, .int(isLast ? .max : found.last?.device ?? .max)])
            guard let last = found.last?.device else { return nil }
            try db.rows(
                "INSERT INTO sealed_push.ranges(key, start, last) VALUES ($1, $2, $3)",
                [key, .int(position), .int(last)])
            return (found, EnqueueRange(start: position, last: last))
        }

        /// False where somebody else has stored it.
        static func lock(
            _ range: EnqueueRange, of order: EnqueueOrder, _ db: PostgresConnection
        ) throws(OutboxError) -> Bool {
            guard let key = order.key else { return false }
            return try !db.rows(
                "SELECT 1 FROM sealed_push.ranges WHERE key = $1 AND start = $2 FOR UPDATE",
                [.bytes(key.digest), .int(range.start)]
            ).isEmpty
        }

        /// In the transaction that stores it.
        static func remove(
            _ range: EnqueueRange, of order: EnqueueOrder, _ db: PostgresConnection
        ) throws(OutboxError) {
            guard let key = order.key else { return }
            try db.rows(
                "DELETE FROM sealed_push.ranges WHERE key = $1 AND start = $2",
                [.bytes(key.digest), .int(range.start)])
        }
    }
#endif
