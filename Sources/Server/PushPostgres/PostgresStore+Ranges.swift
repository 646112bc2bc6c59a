#if Postgres
    import PushOutbox
    import PushSender

    /// The parts of all devices that somebody has begun to seal a message for, and nobody has stored.
    extension PostgresStore {
        /// Begins a new one, or returns one that was begun. Who stores it removes it, in the same transaction.
        static func nextRange(
            of order: EnqueueOrder, at now: Int64, _ db: PostgresConnection
        ) throws(OutboxError) -> EnqueueBatch {
            guard let digest = order.key?.digest else { return EnqueueBatch(doneWith: 0) }
            let row = try db.rows(
                "SELECT start, last FROM sealed_push.next_range($1, $2, $3, $4, $5)",
                [
                    .bytes(digest), .text(order.audienceText), .text(order.topic.description), .int(now),
                    .int(Int64(EnqueueBatch.maximumCount)),
                ]
            ).first
            // Throws where the key was used for others: then there is no range, either.
            let enqueuedCount = try progress(of: order, db)?.enqueuedCount ?? 0
            guard let start = try row?.optionalInt("start"), let last = try row?.optionalInt("last") else {
                return EnqueueBatch(doneWith: enqueuedCount)
            }
            let found = try candidates(
                "topic = $3 AND id + 0 > $1 AND id + 0 <= $2 ORDER BY id + 0",
                [.int(start), .int(last), .text(order.topic.description)], db)
            return EnqueueBatch(
                candidates: found, range: EnqueueRange(start: start, last: last), alreadyEnqueuedCount: enqueuedCount)
        }
    }
#endif
