internal import GRDB

/// The wall clock's offset, as one row, by which processes notice that the clock was set.
///
/// Due times and leases are wall-clock times, so that they outlive processes and restarts of the machine. If the clock is set
/// by an hour, each of them would come an hour too early or too late. So the first transaction after that moves them by as
/// much: each wait remains as long as its reason requires. Expirations stay, since a sender chose them by a right clock.
enum ClockTable {
    /// Returns the time, in milliseconds since 1970, after moving the due times if the clock was set since the last call.
    static func now(by clock: OutboxClock, in db: Database) throws -> Int64 {
        guard let boot = clock.boot else { return clock.now() }
        let (now, offset) = clock.reading()
        let known: Int64? = try db.value("SELECT base FROM clock WHERE boot = ?", [boot])
        // The offset may have been tampered with.
        let (step, isTooLarge) = offset.subtractingReportingOverflow(known ?? offset)
        guard known == nil || isTooLarge || step.magnitude >= tolerance else { return now }
        if step != 0, !isTooLarge { try QueueTable.move(by: step, in: db) }
        try db.run("DELETE FROM clock", [])
        try db.run("INSERT INTO clock(boot, base) VALUES (?, ?)", [boot, offset])
        return now
    }

    /// Reading the two clocks one after the other, and slow corrections, make smaller differences. Milliseconds.
    private static let tolerance = 1_000
}
