internal import GRDB
import PushSender

/// Devices with waiting entries, as rows.
enum QueueTable {
    /// Makes a device's queue due now, in its highest-priority lane. Back-offs and leases continue.
    static func add(_ device: Int64, carrier: Int64, priority: Int, due: Int64, in db: Database) throws {
        try db.run(
            """
            INSERT INTO queues(device, carrier, priority, due) VALUES (?, ?, ?, ?)
            ON CONFLICT(device) DO UPDATE SET priority = CASE priority WHEN 10 THEN 10 ELSE excluded.priority END
            """, [device, carrier, priority, due])
    }

    static func remove(_ device: Int64, in db: Database) throws {
        try db.run("DELETE FROM queues WHERE device = ?", [device])
    }

    /// Moves all due times and the ends of leases.
    static func move(by step: Int64, in db: Database) throws {
        try db.run("UPDATE queues SET due = \(SafeNumber.sum("due", "?"))", [max(min(step, 1 << 60), -1 << 60)])
    }

    /// Hands a queue to a carrier. Deferred entries become due at the given time, if that is earlier.
    static func redirect(_ device: Int64, to carrier: Carrier, dueBy due: Int64?, in db: Database) throws {
        let carrier = try NameTable.carriers.id(making: carrier.description, in: db)
        try db.run("UPDATE queues SET carrier = ? WHERE device = ?", [carrier, device])
        guard let due else { return }
        try db.run(
            "UPDATE queues SET due = ?, attempts = 0 WHERE device = ? AND due > ? AND lease IS NULL",
            [due, device, due])
    }

    /// Records a new lease.
    static func hold(_ lease: Lease, until due: Int64, in db: Database) throws {
        try db.run(
            "UPDATE queues SET due = ?, lease = ?, entry = ?, attempts = ? WHERE device = ?",
            [due, lease.number, lease.entry, lease.attempts, lease.device])
    }

    /// Releases a lease; a no-op if it was lost in the meantime.
    static func release(_ lease: Lease, until due: Int64, attempts: Int, in db: Database) throws {
        try db.run(
            "UPDATE queues SET due = ?, lease = NULL, attempts = ? WHERE device = ? AND lease = ?",
            [due, attempts, lease.device, lease.number])
    }

    /// Extends a lease; a no-op if it was lost in the meantime.
    static func extend(_ lease: Lease, until due: Int64, in db: Database) throws {
        try db.run("UPDATE queues SET due = ? WHERE device = ? AND lease = ?", [due, lease.device, lease.number])
    }

    /// Advances to a device's next entry once its head is gone. If another courier has the lease now, the row stays: a newer
    /// entry must wait until that courier settles the old one.
    static func advance(_ lease: Lease, at now: Int64, in db: Database) throws {
        guard try EntryTable.head(of: lease.device, in: db) != nil else {
            return try db.run(
                "DELETE FROM queues WHERE device = ? AND (lease IS NULL OR lease = ?)", [lease.device, lease.number])
        }
        try db.run(
            """
            UPDATE queues SET due = ?1, lease = NULL, entry = NULL, attempts = 0,
                priority = CASE WHEN EXISTS (SELECT 1 FROM entries WHERE device = ?2 AND priority = 10)
                    THEN 10 ELSE 5 END
            WHERE device = ?2 AND lease = ?3
            """, [now, lease.device, lease.number])
    }
}
