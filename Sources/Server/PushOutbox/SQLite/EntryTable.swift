internal import GRDB

/// Waiting sealed payloads, as rows.
enum EntryTable {
    /// Returns the oldest entry that waits for a device.
    static func head(of device: Int64, in db: Database) throws -> Int64? {
        // Two index lookups, however many entries wait.
        try db.value(
            """
            SELECT MIN(id) FROM (
                SELECT MIN(id) AS id FROM entries WHERE device = ?1 AND priority = 10
                UNION ALL SELECT MIN(id) FROM entries WHERE device = ?1 AND priority = 5)
            """, [device])
    }

    /// Returns the oldest entry that waits for a device, with the device's address.
    static func oldest(of device: Int64, in db: Database) throws -> SQLiteRow? {
        guard let head = try head(of: device, in: db) else { return nil }
        let row = try db.row(
            """
            SELECT entries.id, priority, expiration, apns_id, collapse_id, body, CAST(topic AS BLOB) AS topic, token,
                is_proven, \(DeviceTable.nameColumn), senders.name AS sender, code, address_code, enqueued, send_until, token_refusal
            FROM entries LEFT JOIN devices ON devices.id = device LEFT JOIN senders ON senders.id = sender
            WHERE entries.id = ?
            """, [head])
        guard let row else { throw OutboxError.damaged }
        return row
    }

    /// Counts the end of the rows with this value in this column, for their messages and for the day.
    static func count(
        _ ending: PushEnding, _ column: String, _ value: Int64, of table: String = "entries", in db: Database
    ) throws {
        try db.run(
            """
            INSERT INTO outcomes(message, device, outcome, count, created)
            SELECT e.message, CASE WHEN EXISTS (
                    SELECT 1 FROM outcomes o WHERE o.message = e.message AND o.device = 0 AND o.outcome = 'enqueued'
                ) THEN 0 ELSE e.device END AS place, ?1, ?2 * COUNT(*), ?3
            FROM \(table) e WHERE e.message IS NOT NULL AND e.\(column) = ?4 GROUP BY e.message, place
            ON CONFLICT(message, device, outcome) DO UPDATE SET count = \(SafeNumber.sum("count", "excluded.count"))
            """, [ending.outcome, ending.step, ending.time, value])
        try db.run(
            """
            INSERT INTO tallies(day, outcome, count)
            SELECT ?1, ?2, ?3 * count FROM (SELECT COUNT(*) AS count FROM \(table) WHERE \(column) = ?4) WHERE count > 0
            ON CONFLICT(day, outcome) DO UPDATE SET count = \(SafeNumber.sum("count", "excluded.count"))
            """, [ending.day, ending.outcome, ending.step, value])
    }

    /// Removes an entry with the given outcome, unless it is already gone.
    static func remove(_ id: Int64, _ outcome: String, at now: Int64, in db: Database) throws {
        try count(PushEnding(outcome, at: now), "id", id, in: db)
        try db.run("DELETE FROM entries WHERE id = ?", [id])
    }

    /// Removes all waiting entries of a device, including dead letters, and returns how many.
    @discardableResult
    static func discardAll(
        of device: Int64, _ outcome: String = Tally.discarded, at now: Int64, in db: Database
    ) throws -> Int {
        try count(PushEnding(outcome, at: now), "device", device, in: db)
        try db.run("DELETE FROM entries WHERE device = ?", [device])
        var count = db.changesCount
        try db.run("DELETE FROM dead_letters WHERE device = ?", [device])
        count += db.changesCount
        try QueueTable.remove(device, in: db)
        return count
    }

    /// Moves all waiting entries of a device to the dead letters.
    static func buryAll(of device: Int64, reason: String, at now: Int64, in db: Database) throws {
        try QueueTable.remove(device, in: db)
        try bury("device", device, reason: reason, at: now, in: db)
    }

    /// Moves the entries that are still there to the dead letters, still sealed.
    static func bury(
        _ column: String, _ value: Int64, reason: String, attempts: Int = 0, at now: Int64, in db: Database
    ) throws {
        try count(PushEnding(burying: reason, at: now), column, value, in: db)
        try db.run(
            """
            INSERT OR IGNORE INTO dead_letters(\(columns), reason, attempts, buried)
            SELECT \(columns), ?, ?, ? FROM entries WHERE \(column) = ?
            """, [reason, attempts, now, value])
        try db.run("DELETE FROM entries WHERE \(column) = ?", [value])
    }

    static let columns =
        "id, device, priority, enqueued, send_until, expiration, apns_id, collapse_id, body, sender, code, message"
}
