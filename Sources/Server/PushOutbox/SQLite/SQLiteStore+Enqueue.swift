internal import GRDB
import PushSender
import SealedPush

extension SQLiteStore {
    func candidates(for order: EnqueueOrder) async throws(OutboxError) -> EnqueueBatch {
        let (condition, name, problem): (String, String, OutboxError)
        switch order.audience {
        case .device(let device): (condition, name, problem) = ("devices.name = ?", device.description, .unknownDevice)
        case .user(let user):
            (condition, name, problem) = ("user = ? ORDER BY devices.id", user.description, .unknownUser)
        case .everyone:
            return try await write { db, now in try RangeTable.next(of: order, at: now, in: db) }
        }
        return try await read { db in
            if let progress = try RequestTable.progress(of: order, in: db), progress.isComplete {
                return EnqueueBatch(doneWith: progress.enqueuedCount, message: progress.message)
            }
            let found = try Self.candidates(condition, [name], in: db)
            guard !found.isEmpty else { throw problem }
            return EnqueueBatch(candidates: found, alreadyEnqueuedCount: 0)
        }
    }

    func outcomes(of message: MessageID) async throws(OutboxError) -> [MessageOutcome] {
        try await read { db in
            try db.rows(
                """
                SELECT device, \(DeviceTable.nameColumn), outcome, count FROM outcomes LEFT JOIN devices ON devices.id = device
                WHERE message = ?
                """, [message.description]
            ).map { try $0.outcome() }
        }
    }

    func enqueue(
        _ sealed: [EnqueueBatch.Sealed], of batch: EnqueueBatch, _ order: EnqueueOrder
    ) async throws(OutboxError) -> Bool {
        try await write { db, now in
            // An element is nil if the device has changed since it was read.
            let carriers: [Int64?] = try sealed.map {
                try db.value("SELECT carrier FROM devices WHERE id = ? AND revision = ?", [$0.device, $0.revision])
            }
            guard !carriers.contains(nil) else { return false }
            if let range = batch.range {
                guard try RangeTable.remove(range, of: order, in: db) else { return false }
            } else if try RequestTable.progress(of: order, in: db) != nil {
                return false
            }
            var number = try SafeNumber.next(in: "entries", in: db)
            for case (let item, let carrier?) in zip(sealed, carriers) {
                try Self.insert(item, as: number, of: carrier, order.message, at: now, in: db)
                number += 1
            }
            let isWhole = batch.range == nil
            for device in isWhole ? sealed.map(\.device) : [0] where !sealed.isEmpty {
                try db.run(
                    """
                    INSERT INTO outcomes(message, device, outcome, count, created) VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT(message, device, outcome)
                    DO UPDATE SET count = \(SafeNumber.sum("count", "excluded.count"))
                    """, [order.message.description, device, Tally.enqueued, isWhole ? 1 : sealed.count, now])
            }
            try RequestTable.save(
                order, position: isWhole ? .max : 0, isComplete: isWhole, adding: sealed.count, at: now, in: db)
            return true
        }
    }

    private static func insert(
        _ item: EnqueueBatch.Sealed, as number: Int64, of carrier: Int64, _ message: MessageID, at now: Int64,
        in db: Database
    ) throws {
        let entry = item.entry
        let sender = try entry.sender.map { try NameTable.senders.id(making: $0, in: db) }
        try db.run(
            """
            INSERT INTO entries(id, device, priority, enqueued, send_until, expiration, apns_id, collapse_id, body, sender,
                code, message) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                number, item.device, entry.priority, now, item.sendUntil(at: now), entry.expiration, entry.apnsID,
                entry.collapseID, entry.body.blob, sender, entry.code?.blob, message.description,
            ])
        try QueueTable.add(item.device, carrier: carrier, priority: entry.priority, due: now, in: db)
    }

    /// - Parameter condition: The condition, and any clauses after it.
    static func candidates(
        _ condition: String, _ arguments: StatementArguments, in db: Database
    ) throws -> [EnqueueBatch.Candidate?] {
        try db.rows(
            """
            SELECT devices.id, revision, \(DeviceTable.nameColumns), CAST(carriers.name AS BLOB) AS carrier, token,
                token_registered, token_refusal, recipient, is_verified, valid_from, valid_until, keeps, pin_code
            FROM devices LEFT JOIN carriers ON carriers.id = carrier WHERE \(condition)
            """, arguments
        ).map { row in
            guard let address = try? AddressState(row) else { return nil }
            let hasToken = if case .active = address { true } else { false }
            return try? EnqueueBatch.Candidate(row, hasToken: hasToken)
        }
    }
}

/// The ranges of devices that were started for a message but not stored yet, as rows.
enum RangeTable {
    /// Starts a new range, or returns one that was already started.
    static func next(of order: EnqueueOrder, at now: Int64, in db: Database) throws -> EnqueueBatch {
        let progress = try RequestTable.progress(of: order, in: db)
        let count = progress?.enqueuedCount ?? 0
        let message = progress?.message
        if progress?.isComplete ?? false { return EnqueueBatch(doneWith: count, message: message) }
        let begun = try begin(order, behind: progress?.position ?? 0, at: now, in: db)
        guard let range = try begun ?? anyBegun(of: order, in: db) else {
            try RequestTable.save(order, position: .max, isComplete: true, at: now, in: db)
            return EnqueueBatch(doneWith: count, message: message)
        }
        let found = try SQLiteStore.candidates(
            "devices.id > ? AND devices.id <= ? AND topic = ? ORDER BY devices.id",
            [range.start, range.last, order.topic.description], in: db)
        return EnqueueBatch(candidates: found, range: range, alreadyEnqueuedCount: count, message: message)
    }

    /// Returns `nil` if no range is left to start.
    private static func begin(
        _ order: EnqueueOrder, behind position: Int64, at now: Int64, in db: Database
    ) throws -> EnqueueRange? {
        guard position < .max else { return nil }
        let ids = try Int64.fetchAll(
            db, sql: "SELECT id FROM devices WHERE id > ? AND topic = ? ORDER BY id LIMIT ?",
            arguments: [position, order.topic.description, EnqueueBatch.maximumCount])
        let next = EnqueueProgress.next(behind: position, ids)
        try RequestTable.save(order, position: next.position, at: now, in: db)
        guard let range = next.range else { return nil }
        try db.run(
            "INSERT INTO ranges(key, start, last) VALUES (?, ?, ?)", [order.key?.digest.blob, range.start, range.last])
        return range
    }

    /// Picks at random, so that concurrent callers usually find different ranges.
    private static func anyBegun(of order: EnqueueOrder, in db: Database) throws -> EnqueueRange? {
        try db.row("SELECT start, last FROM ranges WHERE key = ? ORDER BY random() LIMIT 1", [order.key?.digest.blob])
            .map { (try $0.int("start"), try $0.int("last")) }
    }

    /// Removes a range in the transaction that stores it. Returns false if another caller has stored it.
    static func remove(_ range: EnqueueRange, of order: EnqueueOrder, in db: Database) throws -> Bool {
        try db.run("DELETE FROM ranges WHERE key = ? AND start = ?", [order.key?.digest.blob, range.start])
        return db.changesCount > 0
    }
}

/// The progress of each request with an idempotency key, as rows. Only a hash of the key is stored.
enum RequestTable {
    /// Returns `nil` if there is no key, or if it hasn't been used yet.
    static func progress(of order: EnqueueOrder, in db: Database) throws -> EnqueueProgress? {
        guard let key = order.key else { return nil }
        let row = try db.row(
            "SELECT audience, position, is_complete, enqueued, message, fingerprint FROM requests WHERE key = ?",
            [key.digest.blob])
        return try row.map { try EnqueueProgress($0, of: order) }
    }

    /// Records the reading position and the number of pushes enqueued, in the same transaction. A no-op without a key.
    static func save(
        _ order: EnqueueOrder, position: Int64, isComplete: Bool = false, adding count: Int = 0, at now: Int64,
        in db: Database
    ) throws {
        guard let key = order.key else { return }
        try db.run(
            """
            INSERT INTO requests(key, audience, position, is_complete, enqueued, created, message, fingerprint)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT(key) DO UPDATE SET position = max(position, excluded.position),
                is_complete = excluded.is_complete, enqueued = \(SafeNumber.sum("enqueued", "excluded.enqueued"))
            """,
            [
                key.digest.blob, order.audienceText, position, isComplete, count, now, order.message.description,
                order.fingerprint?.blob,
            ])
    }
}
