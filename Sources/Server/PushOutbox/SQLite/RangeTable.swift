internal import GRDB
internal import PushSender

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The parts of all devices that somebody has begun to seal a message for, and nobody has stored, as rows.
enum RangeTable {
    /// Begins a new one, or returns one that was begun.
    static func next(of order: EnqueueOrder, at now: Int64, in db: Database) throws -> EnqueueBatch {
        let progress = try RequestTable.progress(of: order, in: db)
        let count = progress?.enqueuedCount ?? 0
        if progress?.isComplete ?? false { return EnqueueBatch(doneWith: count) }
        if let batch = try begin(order, behind: progress?.position ?? 0, count, at: now, in: db) { return batch }
        guard let range = try anyBegun(of: order, in: db) else {
            try RequestTable.advance(order, to: .max, isComplete: true, at: now, in: db)
            return EnqueueBatch(doneWith: count)
        }
        let found = try SQLiteStore.candidates(
            "id > ? AND id <= ? AND topic = ? ORDER BY id", [range.start, range.last, order.topic.description], in: db)
        return EnqueueBatch(candidates: found, range: range, alreadyEnqueuedCount: count)
    }

    /// Nil where none is left to begin.
    private static func begin(
        _ order: EnqueueOrder, behind position: Int64, _ count: Int, at now: Int64, in db: Database
    ) throws -> EnqueueBatch? {
        guard position < .max, let key = order.key else { return nil }
        let found = try SQLiteStore.candidates(
            "id > ? AND topic = ? ORDER BY id LIMIT ?",
            [position, order.topic.description, EnqueueBatch.maximumCount], in: db)
        let isLast = found.count < EnqueueBatch.maximumCount
        let last = found.last?.device
        try RequestTable.advance(order, to: isLast ? .max : last ?? .max, isComplete: false, at: now, in: db)
        guard let last else { return nil }
        try db.cachedStatement(sql: "INSERT INTO ranges(key, start, last) VALUES (?, ?, ?)").execute(
            arguments: [Data(key.digest), position, last])
        return EnqueueBatch(
            candidates: found, range: EnqueueRange(start: position, last: last), alreadyEnqueuedCount: count)
    }

    /// Several who look at the same time find different ones, most times.
    private static func anyBegun(of order: EnqueueOrder, in db: Database) throws -> EnqueueRange? {
        guard let key = order.key else { return nil }
        return try Row.fetchOne(
            db.cachedStatement(sql: "SELECT start, last FROM ranges WHERE key = ? ORDER BY random() LIMIT 1"),
            arguments: [Data(key.digest)]
        ).map { EnqueueRange(start: try $0.value("start"), last: try $0.value("last")) }
    }

    /// In the transaction that stores it; false where somebody else has.
    static func remove(_ range: EnqueueRange, of order: EnqueueOrder, in db: Database) throws -> Bool {
        guard let key = order.key else { return false }
        try db.cachedStatement(sql: "DELETE FROM ranges WHERE key = ? AND start = ?").execute(
            arguments: [Data(key.digest), range.start])
        return db.changesCount > 0
    }
}
