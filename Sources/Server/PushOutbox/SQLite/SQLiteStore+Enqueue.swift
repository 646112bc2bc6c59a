internal import GRDB
import PushSender
import SealedPush

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension SQLiteStore {
    func candidates(for order: EnqueueOrder) async throws(OutboxError) -> EnqueueBatch {
        guard order.audience == .everyone else { return try await read { try Self.batch(order, in: $0) } }
        let now = clock.now()
        return try await write { try RangeTable.next(of: order, at: now, in: $0) }
    }

    private static func batch(_ order: EnqueueOrder, in db: Database) throws -> EnqueueBatch {
        if let progress = try RequestTable.progress(of: order, in: db), progress.isComplete {
            return EnqueueBatch(doneWith: progress.enqueuedCount)
        }
        let found: [EnqueueBatch.Candidate]
        switch order.audience {
        case .device(let name):
            found = try candidates("name = ?", [name.description], in: db)
            if found.isEmpty { throw OutboxError.unknownDevice }
        case .user(let name):
            found = try candidates("user = ? ORDER BY id", [name.description], in: db)
            if found.isEmpty { throw OutboxError.unknownUser }
        case .everyone: found = []
        }
        return EnqueueBatch(candidates: found, alreadyEnqueuedCount: 0)
    }

    func enqueue(
        _ sealed: [EnqueueBatch.Sealed], of batch: EnqueueBatch, _ order: EnqueueOrder
    ) async throws(OutboxError) -> Bool {
        let now = clock.now()
        return try await write { db in
            let carriers = try sealed.map { try Self.carrier(of: $0, in: db) }
            guard !carriers.contains(nil) else { return false }
            if let range = batch.range {
                guard try RangeTable.remove(range, of: order, in: db) else { return false }
            } else if try RequestTable.progress(of: order, in: db) != nil {
                return false
            }
            let sender = sealed.isEmpty ? nil : try SenderTable.id(making: order.sealedBy, in: db)
            for case (let item, let carrier?) in zip(sealed, carriers) {
                try Self.insert(item, of: carrier, order, sender: sender, at: now, in: db)
            }
            try RequestTable.add(sealed.count, to: order, isComplete: batch.range == nil, at: now, in: db)
            return true
        }
    }

    /// Nil where the device has changed since it was read.
    private static func carrier(of item: EnqueueBatch.Sealed, in db: Database) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT carrier FROM devices WHERE id = ? AND revision = ?"),
            arguments: [item.device, item.revision])
    }

    private static func insert(
        _ item: EnqueueBatch.Sealed, of carrier: Int64, _ order: EnqueueOrder, sender: Int64?, at now: Int64,
        in db: Database
    ) throws {
        let payload = item.payload
        let expiration = order.expiration(of: payload)
        try db.cachedStatement(
            sql: """
                INSERT INTO entries(device, priority, enqueued, stale, expiration, apns_id, collapse_id, body, sender,
                    code) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            item.device, order.priority.rawValue, now, min(order.end(of: payload) ?? .max, now + EnqueueOrder.lifetime),
            expiration?.secondsSince1970, payload.apnsID, payload.collapseID, Data(payload.json), sender,
            item.code.map { Data($0) },
        ])
        try QueueTable.add(item.device, carrier: carrier, priority: order.priority.rawValue, due: now, in: db)
    }

    /// - Parameter condition: and what more there is behind it.
    static func candidates(
        _ condition: String, _ arguments: StatementArguments, in db: Database
    ) throws -> [EnqueueBatch.Candidate] {
        try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT id, revision, name, user, topic, token IS NOT NULL AND token_refusal IS NULL AS has_token,
                        recipient, is_verified, valid_from, valid_until, pin_code
                    FROM devices WHERE \(condition)
                    """), arguments: arguments
        ).map(candidate)
    }

    private static func candidate(_ row: Row) throws -> EnqueueBatch.Candidate {
        guard let topic = Topic(parsing: try row.value("topic")) else { throw OutboxError.damaged }
        let recipient = try DevicePublicKey(stored: (row.value("recipient") as Data?).map { Array($0) })
        return EnqueueBatch.Candidate(
            device: try row.value("id"), revision: try row.value("revision"), name: try row.value("name"),
            user: try row.value("user"), topic: topic, hasToken: try row.value("has_token"),
            key: SealingKey(
                recipient: recipient, isVerified: try row.value("is_verified"), validFrom: try row.value("valid_from"),
                validUntil: try row.value("valid_until")), code: (try row.value("pin_code") as Data?).map { Array($0) })
    }
}

/// How far each request with an idempotency key has come, as rows. Of the key, only a hash.
enum RequestTable {
    struct Progress {
        let position: Int64
        let isComplete: Bool
        let enqueuedCount: Int
    }

    /// Nil where there is no key, or none was used so far.
    static func progress(of order: EnqueueOrder, in db: Database) throws -> Progress? {
        guard let key = order.key else { return nil }
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT audience, position, is_complete, enqueued FROM requests WHERE key = ?"),
            arguments: [Data(key.digest)])
        guard let row else { return nil }
        guard try row.value("audience") == order.audienceText else { throw OutboxError.keyUsedForOthers }
        return Progress(
            position: try row.value("position"), isComplete: try row.value("is_complete"),
            enqueuedCount: try row.count("enqueued"))
    }

    /// Notes how far the reading has come; makes the row where there is none.
    static func advance(
        _ order: EnqueueOrder, to position: Int64, isComplete: Bool, at now: Int64, in db: Database
    ) throws {
        try save(order, position: position, isComplete: isComplete, count: 0, at: now, in: db)
    }

    /// Notes what was enqueued, in the same transaction.
    static func add(_ count: Int, to order: EnqueueOrder, isComplete: Bool, at now: Int64, in db: Database) throws {
        try save(order, position: isComplete ? .max : 0, isComplete: isComplete, count: count, at: now, in: db)
    }

    private static func save(
        _ order: EnqueueOrder, position: Int64, isComplete: Bool, count: Int, at now: Int64, in db: Database
    ) throws {
        guard let key = order.key else { return }
        try db.cachedStatement(
            sql: """
                INSERT INTO requests(key, audience, position, is_complete, enqueued, created) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT(key) DO UPDATE SET position = max(position, excluded.position),
                    is_complete = excluded.is_complete, enqueued = enqueued + excluded.enqueued
                """
        ).execute(arguments: [Data(key.digest), order.audienceText, position, isComplete, count, now])
    }
}

/// Sender keys as rows, so that each push holds a number only. Public keys; there are few, and they stay.
enum SenderTable {
    /// Makes the row if there is none.
    static func id(making sealedBy: SealedBy, in db: Database) throws -> Int64 {
        if let id = try id(of: sealedBy, in: db) { return id }
        try db.cachedStatement(sql: "INSERT INTO senders(key) VALUES (?)").execute(arguments: [sealedBy.description])
        return db.lastInsertedRowID
    }

    /// Nil where nothing was ever sealed by it.
    static func id(of sealedBy: SealedBy, in db: Database) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT id FROM senders WHERE key = ?"), arguments: [sealedBy.description])
    }

    /// How many rows of a table each has sealed; reads an index only.
    static func counts(of table: String, in db: Database) throws -> [SealedBy: Int] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT key, count FROM (
                    SELECT sender, COUNT(*) AS count FROM \(table) INDEXED BY \(table)_by_sender GROUP BY sender)
                JOIN senders ON senders.id = sender
                """)
        return Dictionary(
            try rows.compactMap { row in
                guard let sealedBy = SealedBy(parsing: try row.value("key")) else { return nil }
                return (sealedBy, try row.count("count"))
            }, uniquingKeysWith: +)
    }
}
