internal import GRDB
import PushSender

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

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

    /// Notes a batch, in the transaction that stores its entries.
    static func advance(
        _ order: EnqueueOrder, to position: Int64, isComplete: Bool, enqueuing count: Int, at now: Int64,
        in db: Database
    ) throws {
        guard let key = order.key else { return }
        try db.cachedStatement(
            sql: """
                INSERT INTO requests(key, audience, position, is_complete, enqueued, created) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT(key) DO UPDATE SET position = excluded.position, is_complete = excluded.is_complete,
                    enqueued = enqueued + excluded.enqueued
                """
        ).execute(arguments: [Data(key.digest), order.audienceText, position, isComplete, count, now])
    }
}
