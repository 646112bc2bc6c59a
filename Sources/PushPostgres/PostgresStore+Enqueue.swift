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

        private static func batch(
            _ order: EnqueueOrder, _ db: PostgresConnection
        ) throws(OutboxError) -> EnqueueBatch {
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
            try await write { db, now throws(OutboxError) in
                if let range = batch.range {
                    guard try Self.lock(range, of: order, db) else { return false }
                } else if let key = order.key {
                    try db.rows("SELECT pg_advisory_xact_lock(hashtextextended($1, 21))", [.text("\(key.digest)")])
                    if try Self.progress(of: order, db) != nil { return false }
                }
                guard try Self.insert(sealed, order, at: now, db) else { return false }
                if let range = batch.range { try Self.remove(range, of: order, db) }
                try Self.add(sealed.count, to: order, isComplete: batch.range == nil, at: now, db)
                return true
            }
        }

        /// False, and nothing changed, where a device is not as it was read.
        private static func insert(
            _ sealed: [EnqueueBatch.Sealed], _ order: EnqueueOrder, at now: Int64, _ db: PostgresConnection
        ) throws(OutboxError) -> Bool {
            guard !sealed.isEmpty else { return true }
            let sealed = sealed.sorted { $0.device < $1.device }
            let devices = PostgresValue.ints(sealed.map(\.device))
            // Until the end: a change of user or key comes before this, or finds what is enqueued, and discards it.
            let held = try db.rows(
                """
                SELECT d.carrier FROM unnest($1::bigint[], $2::bigint[]) AS x(id, revision)
                JOIN sealed_push.devices d ON d.id = x.id AND d.revision = x.revision ORDER BY d.id FOR NO KEY UPDATE OF d
                """, [devices, .ints(sealed.map(\.revision))])
            guard held.count == sealed.count else { return false }
            let carriers = try held.map { row throws(OutboxError) in try row.text("carrier") }
            try queue(
                zip(sealed, carriers).map {
                    NewQueue(device: $0.device, carrier: $1, priority: Int64(order.priority.rawValue))
                }, due: now, db)
            let payloads = sealed.map(\.payload)
            let ends = payloads.map { min(order.end(of: $0) ?? .max, now + EnqueueOrder.lifetime) }
            try db.rows(
                """
                INSERT INTO sealed_push.entries(device, priority, enqueued, stale, expiration, apns_id, collapse_id, body,
                    sender, code)
                SELECT x.device, $2, $3, x.stale, x.expiration, x.apns_id, x.collapse_id, x.body, $4, x.code
                FROM unnest($1::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::bytea[], $10::bytea[])
                    AS x(device, stale, expiration, apns_id, collapse_id, body, code)
                """,
                [
                    devices, .int(Int64(order.priority.rawValue)), .int(now), .int(try sender(order.sealedBy, db)),
                    .ints(ends), .ints(payloads.map { order.expiration(of: $0)?.secondsSince1970 }),
                    .texts(payloads.map(\.apnsID)), .texts(payloads.map(\.collapseID)),
                    .byteArrays(payloads.map { Array($0.json) }), .byteArrays(sealed.map(\.code)),
                ])
            try db.rows("SELECT sealed_push.wake()")
            return true
        }

        struct NewQueue {
            let device: Int64
            let carrier: String
            let priority: Int64
            /// No entry that waits has a lower number; nil where none was numbered yet.
            var head: Int64?
        }

        /// Lets what waits for devices be taken, in the better of the lanes; a back-off or lease goes on. The devices' rows are
        /// ours.
        ///
        /// The queues' rows are held until the transaction's end, so that the entries of one device are numbered in the order
        /// in which they become visible. What is made now begins behind all numbers that were given before.
        static func queue(_ queues: [NewQueue], due: Int64, _ db: PostgresConnection) throws(OutboxError) {
            let generation = try db.rows("SELECT sealed_push.generation()").first?.int("generation") ?? 0
            let rows = try db.rows(
                """
                SELECT q.device, q.priority, q.head, q.ctid AS place
                FROM unnest($1::bigint[]) AS x(device), LATERAL (
                    SELECT *, ctid FROM sealed_push.queues WHERE generation IN ($2 - 1, $2) AND device = x.device
                    FOR UPDATE) AS q
                """, [.ints(queues.map(\.device)), .int(generation)])
            var found: [Int64: (priority: Int64, head: Int64, place: Int64)] = [:]
            for (device, queue) in try rows.map({ row throws(OutboxError) in
                (
                    try row.int("device"),
                    (priority: try row.int("priority"), head: try row.int("head"), place: try row.int("place"))
                )
            }) {
                found[device] = queue
            }
            var changed: [(place: Int64, priority: Int64, head: Int64)] = []
            for queue in queues {
                guard let old = found[queue.device] else { continue }
                let (priority, head) = (max(old.priority, queue.priority), min(old.head, queue.head ?? old.head))
                if (priority, head) != (old.priority, old.head) { changed.append((old.place, priority, head)) }
            }
            if !changed.isEmpty {
                try db.rows(
                    """
                    UPDATE sealed_push.queues q SET priority = x.priority, head = x.head
                    FROM unnest($1::tid[], $2::bigint[], $3::bigint[]) AS x(place, priority, head) WHERE q.ctid = x.place
                    """,
                    [.places(changed.map(\.place)), .ints(changed.map(\.priority)), .ints(changed.map(\.head))])
            }
            let new = queues.filter { found[$0.device] == nil }
            guard !new.isEmpty else { return }
            try db.rows(
                """
                INSERT INTO sealed_push.queues(generation, device, carrier, priority, due, head)
                SELECT $1, x.device, x.carrier, x.priority, $2, coalesce(x.head, s.last_value)
                FROM unnest($3::bigint[], $4::text[], $5::bigint[], $6::bigint[]) AS x(device, carrier, priority, head),
                    sealed_push.entries_id_seq s
                """,
                [
                    .int(generation), .int(due), .ints(new.map(\.device)), .texts(new.map(\.carrier)),
                    .ints(new.map(\.priority)), .ints(new.map(\.head)),
                ])
        }

        // MARK: Idempotency keys

        struct Progress {
            let position: Int64
            let isComplete: Bool
            let enqueuedCount: Int
        }

        /// Nil where there is no key, or none was used so far.
        static func progress(
            of order: EnqueueOrder, _ db: PostgresConnection
        ) throws(OutboxError) -> Progress? {
            guard let key = order.key else { return nil }
            let rows = try db.rows(
                "SELECT audience, position, is_complete, enqueued FROM sealed_push.requests WHERE key = $1",
                [.bytes(key.digest)])
            guard let row = rows.first else { return nil }
            guard try row.text("audience") == order.audienceText else { throw .keyUsedForOthers }
            return Progress(
                position: try row.int("position"), isComplete: try row.bool("is_complete"),
                enqueuedCount: try row.count("enqueued"))
        }

        /// Notes what was enqueued, in the same transaction.
        private static func add(
            _ count: Int, to order: EnqueueOrder, isComplete: Bool, at now: Int64, _ db: PostgresConnection
        ) throws(OutboxError) {
            guard let key = order.key else { return }
            guard isComplete else {
                try db.rows(
                    "UPDATE sealed_push.requests SET enqueued = enqueued + $2 WHERE key = $1",
                    [.bytes(key.digest), .int(Int64(count))])
                return
            }
            try db.rows(
                """
                INSERT INTO sealed_push.requests(key, audience, position, is_complete, enqueued, created)
                VALUES ($1, $2, $3, true, $4, $5)
                """,
                [
                    .bytes(key.digest), .text(order.audienceText), .int(.max), .int(Int64(count)), .int(now),
                ])
        }

        // MARK: Senders

        /// The row of a sender's key, made where there is none; nil for an unknown one.
        private static func sender(_ sealedBy: SealedBy, _ db: PostgresConnection) throws(OutboxError) -> Int64? {
            if let id = try senderID(sealedBy, db) { return id }
            guard sealedBy != .unknown else { return nil }
            try db.rows(
                "INSERT INTO sealed_push.senders(key) VALUES ($1) ON CONFLICT (key) DO NOTHING",
                [.text(sealedBy.description)])
            return try senderID(sealedBy, db)
        }

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
                SELECT id, revision, name, user_name, topic, token IS NOT NULL AND token_refusal IS NULL AS has_token,
                    recipient, is_verified, valid_from, valid_until, pin_code
                FROM sealed_push.devices WHERE \(condition)
                """, arguments)
            return try rows.map { row throws(OutboxError) in try candidate(row) }
        }

        private static func candidate(_ row: PostgresRows.Row) throws(OutboxError) -> EnqueueBatch.Candidate {
            guard let topic = Topic(parsing: try row.text("topic")) else { throw .damaged }
            let recipient: Recipient?
            if let text = try row.optionalText("recipient") {
                do { recipient = try Recipient(parsing: text) } catch { throw .damaged }
            } else {
                recipient = nil
            }
            return EnqueueBatch.Candidate(
                device: try row.int("id"), revision: try row.int("revision"), name: try row.text("name"),
                user: try row.text("user_name"), topic: topic, hasToken: try row.bool("has_token"),
                key: SealingKey(
                    recipient: recipient, isVerified: try row.bool("is_verified"),
                    validFrom: try row.int("valid_from"), validUntil: try row.int("valid_until")),
                code: try row.optionalBytes("pin_code"))
        }
    }
#endif
