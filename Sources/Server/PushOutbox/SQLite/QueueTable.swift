internal import GRDB

/// How many pushes ended how, by day, as rows.
extension Tally {
    static func add(_ outcome: String, _ count: Int = 1, at now: Int64, in db: Database) throws {
        guard count > 0 else { return }
        try db.cachedStatement(
            sql: """
                INSERT INTO tallies(day, outcome, count) VALUES (?, ?, ?)
                ON CONFLICT(day, outcome) DO UPDATE SET count = count + excluded.count
                """
        ).execute(arguments: [now / millisecondsPerDay, outcome, count])
    }

}

/// Devices for which something waits, as rows.
enum QueueTable {
    /// Lets what waits for a device be taken now, in the better of the lanes; a back-off or lease goes on.
    static func add(_ device: Int64, carrier: Int64, priority: Int, due: Int64, in db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO queues(device, carrier, priority, due) VALUES (?, ?, ?, ?)
                ON CONFLICT(device) DO UPDATE SET priority = MAX(priority, excluded.priority)
                """
        ).execute(arguments: [device, carrier, priority, due])
    }

    static func remove(_ device: Int64, in db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM queues WHERE device = ?").execute(arguments: [device])
    }

    static func removeUnlessLeased(_ device: Int64, at now: Int64, in db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM queues WHERE device = ? AND (lease IS NULL OR due <= ?)")
            .execute(arguments: [device, now])
    }

    /// Lets what was put off be taken at once: a new address has nothing to do with why the old one failed.
    static func hurry(_ device: Int64, due: Int64, in db: Database) throws {
        try db.cachedStatement(
            sql: "UPDATE queues SET due = ?, attempts = 0 WHERE device = ? AND due > ? AND lease IS NULL"
        ).execute(arguments: [due, device, due])
    }

    static func move(_ device: Int64, to carrier: Int64, in db: Database) throws {
        try db.cachedStatement(sql: "UPDATE queues SET carrier = ? WHERE device = ?")
            .execute(arguments: [carrier, device])
    }

    /// Gives a lease back; nothing where it was lost in the meantime.
    static func release(_ lease: Lease, until due: Int64, isAttempt: Bool, in db: Database) throws {
        try db.cachedStatement(
            sql: "UPDATE queues SET due = ?, lease = NULL, attempts = attempts - ? WHERE device = ? AND lease = ?"
        ).execute(arguments: [due, isAttempt ? 0 : 1, lease.device, lease.number])
    }

    /// Holds a lease for longer; nothing where it was lost in the meantime.
    static func extend(_ lease: Lease, until due: Int64, in db: Database) throws {
        try db.cachedStatement(sql: "UPDATE queues SET due = ? WHERE device = ? AND lease = ?")
            .execute(arguments: [due, lease.device, lease.number])
    }

    /// Goes on to a device's next entry, once its head is gone.
    static func advance(_ lease: Lease, at now: Int64, in db: Database) throws {
        guard try EntryTable.head(of: lease.device, in: db) != nil else { return try remove(lease.device, in: db) }
        try db.cachedStatement(
            sql: """
                UPDATE queues SET due = ?1, lease = NULL, entry = NULL, attempts = 0,
                    priority = (SELECT MAX(priority) FROM entries WHERE device = ?2)
                WHERE device = ?2 AND lease = ?3
                """
        ).execute(arguments: [now, lease.device, lease.number])
    }
}

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

    static let columns = "id, device, priority, enqueued, stale, expiration, apns_id, collapse_id, body, sender, code"
}
