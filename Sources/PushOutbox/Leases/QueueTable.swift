internal import GRDB

/// Devices for which something waits, as rows.
enum QueueTable {
    /// Lets what waits for a device be taken now, in the better of the lanes; a back-off or lease goes on.
    static func add(
        _ device: Int64, carrier: Int64, priority: Int, due: Int64, in db: Database
    ) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO queues(device, environment, priority, due) VALUES (?, ?, ?, ?)
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
        try db.cachedStatement(sql: "UPDATE queues SET environment = ? WHERE device = ?")
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
