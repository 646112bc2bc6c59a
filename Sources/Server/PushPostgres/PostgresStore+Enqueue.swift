#if Postgres
    import PushOutbox
    import PushSender
    import SealedPush

    extension PostgresStore {
        func candidates(for order: EnqueueOrder) async throws(OutboxError) -> EnqueueBatch {
            guard order.audience == .everyone else {
                let batch = try await read { db, _ throws(OutboxError) in try Self.batch(order, db) }
                // Whoever asks again may have lost the answer because the server was lost.
                if batch.isDone { try await pool.waitForStandby() }
                return batch
            }
            return try await write { db, now throws(OutboxError) in try Self.nextRange(of: order, at: now, db) }
        }

        private static func batch(_ order: EnqueueOrder, _ db: PostgresConnection) throws(OutboxError) -> EnqueueBatch {
            if let progress = try progress(of: order, db), progress.isComplete {
                return EnqueueBatch(doneWith: progress.enqueuedCount)
            }
            let found: [EnqueueBatch.Candidate]
            switch order.audience {
            case .device(let name):
                found = try candidates("name = $1", [.text(name.description)], db)
                if found.isEmpty { throw .unknownDevice }
            case .user(let name):
                found = try candidates("user_name = $1 ORDER BY id", [.text(name.description)], db)
                if found.isEmpty { throw .unknownUser }
            case .everyone: found = []
            }
            return EnqueueBatch(candidates: found, alreadyEnqueuedCount: 0)
        }

        func enqueue(
            _ sealed: [EnqueueBatch.Sealed], of batch: EnqueueBatch, _ order: EnqueueOrder
        ) async throws(OutboxError) -> Bool {
            // In one order for all: two who want the same rows never wait for each other.
            let sealed = sealed.sorted { $0.device < $1.device }
            return try await write { db, now throws(OutboxError) in
                let payloads = sealed.map(\.payload)
                let ends = payloads.map { min(order.end(of: $0) ?? .max, now + EnqueueOrder.lifetime) }
                let row = try db.rows(
                    """
                    SELECT sealed_push.store($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) AS is_stored
                    """,
                    [
                        .bytes(order.key?.digest), .text(order.audienceText), .int(batch.range?.start), .int(now),
                        .int(Int64(order.priority.rawValue)), .text(order.sealedBy.description),
                        .ints(sealed.map(\.device)), .ints(sealed.map(\.revision)), .ints(ends),
                        .ints(payloads.map { order.expiration(of: $0)?.secondsSince1970 }),
                        .texts(payloads.map(\.apnsID)), .texts(payloads.map(\.collapseID)),
                        .byteArrays(payloads.map { Array($0.json) }), .byteArrays(sealed.map(\.code)),
                    ]
                ).first
                return try row?.bool("is_stored") ?? false
            }
        }

        // MARK: Idempotency keys

        struct Progress {
            let isComplete: Bool
            let enqueuedCount: Int
        }

        /// Nil where there is no key, or none was used so far.
        static func progress(of order: EnqueueOrder, _ db: PostgresConnection) throws(OutboxError) -> Progress? {
            guard let key = order.key else { return nil }
            let rows = try db.rows(
                "SELECT audience, is_complete, enqueued FROM sealed_push.request($1)", [.bytes(key.digest)])
            guard let row = rows.first else { return nil }
            guard try row.text("audience") == order.audienceText else { throw .keyUsedForOthers }
            return Progress(isComplete: try row.bool("is_complete"), enqueuedCount: try row.count("enqueued"))
        }

        // MARK: Senders

        /// Nil where nothing was ever sealed by it.
        static func senderID(_ sealedBy: SealedBy, _ db: PostgresConnection) throws(OutboxError) -> Int64? {
            try db.rows("SELECT id FROM sealed_push.senders WHERE key = $1", [.text(sealedBy.description)]).first?
                .int("id")
        }

        /// - Parameter condition: and what more there is behind it.
        static func candidates(
            _ condition: String, _ arguments: [PostgresValue], _ db: PostgresConnection
        ) throws(OutboxError) -> [EnqueueBatch.Candidate] {
            let rows = try db.rows(
                """
                SELECT id, revision, name, user_name, topic, has_token, recipient, is_verified, valid_from, valid_until,
                    pin_code
                FROM sealed_push.recipients WHERE \(condition)
                """, arguments)
            return try rows.map { row throws(OutboxError) in try EnqueueBatch.Candidate(row) }
        }
    }
#endif
