internal import GRDB

/// Sealed payloads that wait, as rows.
enum EntryTable {
    /// The oldest that waits for a device.
    static func head(of device: Int64, in db: Database) throws -> Int64? {
        // Two steps into the index, however many wait.
        try Int64.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT MIN(id) FROM (
                        SELECT MIN(id) AS id FROM entries WHERE device = ?1 AND priority = 10
                        UNION ALL SELECT MIN(id) FROM entries WHERE device = ?1 AND priority = 5)
                    """), arguments: [device])
    }

    /// Removes one; false where it was gone already.
    static func remove(_ id: Int64, in db: Database) throws -> Bool {
        try db.cachedStatement(sql: "DELETE FROM entries WHERE id = ?").execute(arguments: [id])
        return db.changesCount > 0
    }

    /// Removes all that waits for a device, dead letters included; returns how many that were.
    static func discardAll(of device: Int64, in db: Database) throws -> Int {
        try db.execute(sql: "DELETE FROM entries WHERE device = ?", arguments: [device])
        var count = db.changesCount
        try db.execute(sql: "DELETE FROM dead_letters WHERE device = ?", arguments: [device])
        count += db.changesCount
        try QueueTable.remove(device, in: db)
        return count
    }

    /// Moves one to the dead letters, still sealed; false where it was gone already.
    static func bury(_ id: Int64, reason: String, attempts: Int, at now: Int64, in db: Database) throws -> Bool {
        try db.cachedStatement(
            sql: """
                INSERT OR IGNORE INTO dead_letters(\(columns), reason, attempts, died)
                SELECT \(columns), ?, ?, ? FROM entries WHERE id = ?
                """
        ).execute(arguments: [reason, attempts, now, id])
        return try remove(id, in: db)
    }

    /// Moves all that waits for a device to the dead letters; returns how many that were.
    static func buryAll(of device: Int64, reason: String, at now: Int64, in db: Database) throws -> Int {
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO dead_letters(\(columns), reason, attempts, died)
                SELECT \(columns), ?, 0, ? FROM entries WHERE device = ?
                """, arguments: [reason, now, device])
        try db.execute(sql: "DELETE FROM entries WHERE device = ?", arguments: [device])
        let count = db.changesCount
        try QueueTable.remove(device, in: db)
        return count
    }

    static let columns = "id, device, priority, enqueued, stale, expiration, apns_id, collapse_id, body, sender"
}
