#if Postgres
import PushOutbox
import PushSender
import SealedPush

extension PostgresStore {
    func candidates(for order: EnqueueOrder) async throws(OutboxError) -> EnqueueBatch {
        let (condition, name, problem): (String, String, OutboxError)
        switch order.audience {
        case .device(let device): (condition, name, problem) = ("name = $1", device.description, .unknownDevice)
        case .user(let user):
            (condition, name, problem) = ("user_name = $1 ORDER BY id", user.description, .unknownUser)
        case .everyone:
            return try await write { db, now throws(OutboxError) in try Self.nextRange(of: order, at: now, db) }
        }
        let batch = try await read { db, _ throws(OutboxError) in
            if let progress = try Self.progress(of: order, db), progress.isComplete {
                return EnqueueBatch(doneWith: progress.enqueuedCount, message: progress.message)
            }
            let found = try Self.candidates(condition, [.text(name)], db)
            guard !found.isEmpty else { throw problem }
            return EnqueueBatch(candidates: found, alreadyEnqueuedCount: 0)
        }
        // A caller that asks again may have lost the response because the server was lost.
        if batch.isDone { try await pool.connected(PostgresPool.waitForStandby) }
        return batch
    }

    func outcomes(of message: MessageID) async throws(OutboxError) -> [MessageOutcome] {
        try await read { db, _ throws(OutboxError) in
            try db.rows(
                """
                SELECT o.device, r.name, o.outcome, \(Self.sum) AS count FROM sealed_push.outcomes o
                    LEFT JOIN sealed_push.recipients r ON r.id = o.device
                WHERE o.message = $1 GROUP BY 1, 2, 3
                """, [.text(message.description)]
            ).map { row throws(OutboxError) in try row.outcome() }
        }
    }

    /// Starts a new range of all devices, or returns one that was started but isn't stored. Storing it also removes it,
    /// in the same transaction.
    private static func nextRange(
        of order: EnqueueOrder, at now: Int64, _ db: PostgresConnection
    ) throws(OutboxError) -> EnqueueBatch {
        guard let digest = order.key?.digest else { return EnqueueBatch(doneWith: 0) }
        let row = try db.row(
            "SELECT start, last FROM sealed_push.next_range($1, $2, $3, $4, $5, $6, $7)",
            [
                .bytes(digest), .text(order.audienceText), .text(order.topic.description), .int(now),
                .int(Int64(EnqueueBatch.maximumCount)), .text(order.message.description), .bytes(order.fingerprint),
            ])
        // Throws if the key was used for other recipients or content. Then there is no range either.
        let progress = try progress(of: order, db)
        let (enqueuedCount, message) = (progress?.enqueuedCount ?? 0, progress?.message)
        guard let start = try row.optionalInt("start"), let last = try row.optionalInt("last") else {
            return EnqueueBatch(doneWith: enqueuedCount, message: message)
        }
        let found = try candidates(
            "topic = $3 AND id + 0 > $1 AND id + 0 <= $2 ORDER BY id + 0",
            [.int(start), .int(last), .text(order.topic.description)], db)
        return EnqueueBatch(
            candidates: found, range: (start, last), alreadyEnqueuedCount: enqueuedCount, message: message)
    }

    func enqueue(
        _ sealed: [EnqueueBatch.Sealed], of batch: EnqueueBatch, _ order: EnqueueOrder
    ) async throws(OutboxError) -> Bool {
        // The order is the same for every caller, which prevents deadlocks.
        let sealed = sealed.sorted { $0.device < $1.device }
        return try await holding(sealed.map(\.device), of: batch, order) { db, now throws(OutboxError) in
            let entries = sealed.map(\.entry)
            let parameters = (1...16).map { "$\($0)" }.joined(separator: ", ")
            return try db.row(
                "SELECT sealed_push.store(\(parameters)) AS is_stored",
                [
                    .bytes(order.key?.digest), .text(order.audienceText), .int(batch.range?.start), .int(now),
                    .ints(entries.map { Int64($0.priority) }), .texts(entries.map(\.sender)),
                    .ints(sealed.map(\.device)), .ints(sealed.map(\.revision)),
                    .ints(sealed.map { $0.sendUntil(at: now) }), .ints(entries.map(\.expiration)),
                    .texts(entries.map(\.apnsID)), .texts(entries.map(\.collapseID)),
                    .byteArrays(entries.map(\.body)), .byteArrays(entries.map(\.code)),
                    .text(order.message.description), .bytes(order.fingerprint),
                ]
            ).bool("is_stored")
        }
    }

    /// Runs the transaction that stores a batch for these devices. Returns false without a result if devices' rows were
    /// held by others, and so became ranges of their own.
    private func holding(
        _ devices: [Int64], of batch: EnqueueBatch, _ order: EnqueueOrder,
        _ store: @escaping @Sendable (PostgresConnection, Int64) throws(OutboxError) -> Bool
    ) async throws(OutboxError) -> Bool {
        guard let range = batch.range else {
            return try await write(holding: "enqueue \(order.audienceText)", store)
        }
        do throws(OutboxError) { return try await write(holding: nil, attempt: .milliseconds(100), store) } catch {
            guard error == .deviceBusy, range.last - range.start > 1 else { throw error }
            return try await write(holding: nil) { db, _ throws(OutboxError) in
                try db.rows(
                    "SELECT sealed_push.set_apart($1, $2, $3)",
                    [.bytes(order.key?.digest), .int(range.start), .ints(devices)])
                return false
            }
        }
    }

    /// Returns the progress under the order's key, or `nil` if it has no key or the key hasn't been used yet.
    private static func progress(
        of order: EnqueueOrder, _ db: PostgresConnection
    ) throws(OutboxError) -> EnqueueProgress? {
        guard let key = order.key else { return nil }
        let rows = try db.rows(
            "SELECT audience, position, is_complete, enqueued, message, fingerprint FROM sealed_push.request($1)",
            [.bytes(key.digest)])
        return try rows.first.map { row throws(OutboxError) in try EnqueueProgress(row, of: order) }
    }

    /// - Parameter condition: The condition, and any clauses after it.
    private static func candidates(
        _ condition: String, _ arguments: [PostgresValue], _ db: PostgresConnection
    ) throws(OutboxError) -> [EnqueueBatch.Candidate?] {
        let rows = try db.rows(
            """
            SELECT id, revision, name, user_name, topic, has_token, recipient, is_verified, valid_from, valid_until,
                keeps, pin_code
            FROM sealed_push.recipients WHERE \(condition)
            """, arguments)
        return rows.map { row in try? EnqueueBatch.Candidate(row, hasToken: row.bool("has_token")) }
    }
}
#endif
