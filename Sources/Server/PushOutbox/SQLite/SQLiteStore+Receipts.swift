internal import GRDB
import PushSender
import SealedPush

extension SQLiteStore {
    func count(_ receipts: [ShownReceipt], refused: [ReceiptError: Int]) async throws(OutboxError) -> [ReceiptOutcome] {
        let now = clock.now()
        return try await write { db in
            for (error, count) in refused {
                try Tally.add(ReceiptTally.refused(error.rawValue), count, at: now, in: db)
            }
            return try receipts.map { try ReceiptTable.count($0, at: now, in: db) }
        }
    }

    func receipts(days: Int) async throws(OutboxError) -> ReceiptReport {
        let first = clock.now() / Tally.millisecondsPerDay - Int64(days) + 1
        let start = first * Tally.millisecondsPerDay
        return try await read { db in
            let totals = try Row.fetchOne(
                db,
                sql: """
                    SELECT COUNT(*) AS devices, COUNT(*) FILTER (WHERE failed > 0) AS failing,
                        (SELECT COUNT(*) FROM devices) AS registered
                    FROM receipt_devices WHERE last >= ?
                    """, arguments: [start])
            guard let totals else { throw OutboxError.damaged }
            let tallies = try Row.fetchAll(
                db, sql: "SELECT day, outcome, count FROM tallies WHERE day >= ? AND (outcome = ? OR outcome GLOB ?)",
                arguments: [first, Tally.accepted, "\(ReceiptTally.prefix)*"])
            let failing = try Self.counts(
                "SELECT reason AS name, COUNT(*) AS count FROM receipt_failures WHERE last >= ? GROUP BY reason",
                [start], in: db)
            return try ReceiptReport(totals, tallies: tallies, failingDevices: failing)
        }
    }

    func receipts(of id: ReceiptID) async throws(OutboxError) -> ReceiptDevice? {
        try await read { db in
            let row = try Row.fetchOne(
                db, sql: "SELECT last, shown, failed FROM receipt_devices WHERE id = ?", arguments: [id.bytes.blob])
            return try row.map { try ReceiptDevice($0) }
        }
    }
}

/// Receipts as rows: counts by day, devices, and the numbers of those that came.
///
/// A device says what it likes about itself, in bounds; nothing about another.
enum ReceiptTable {
    static func count(_ receipt: ShownReceipt, at now: Int64, in db: Database) throws -> ReceiptOutcome {
        guard try !isKnown(receipt, in: db) else {
            try Tally.add(ReceiptTally.repeated, at: now, in: db)
            return .repeated
        }
        let today = now / Tally.millisecondsPerDay
        let before = try counts(of: receipt.id, on: today, in: db)
        guard before.shown < ReceiptDevice.maximumPerDay else {
            try Tally.add(ReceiptTally.refused(ReceiptTally.tooMany), at: now, in: db)
            return .tooMany
        }
        // By the device's own day, not today: it is refused once that day is too long ago.
        let made = receipt.created.secondsSince1970 * 1_000 / Tally.millisecondsPerDay
        try db.cachedStatement(sql: "INSERT INTO receipt_numbers(id, number, day) VALUES (?, ?, ?)")
            .execute(arguments: [receipt.id.bytes.blob, receipt.number.blob, max(made, today)])
        try Tally.add(ReceiptTally.shown, at: now, in: db)
        try Tally.add(ReceiptTally.speed(receipt.elapsed), at: now, in: db)
        let failedCount = try countFailures(of: receipt, before: before.failed, at: now, in: db)
        try db.cachedStatement(
            sql: """
                INSERT INTO receipt_devices(id, last, shown, failed, day, shown_that_day, failed_that_day)
                VALUES (?1, ?2, 1, ?3, ?4, 1, ?3)
                ON CONFLICT(id) DO UPDATE SET last = MAX(last, excluded.last), shown = shown + 1,
                    failed = failed + excluded.failed, day = excluded.day,
                    shown_that_day = CASE WHEN day = excluded.day THEN shown_that_day + 1 ELSE 1 END,
                    failed_that_day = excluded.failed
                        + CASE WHEN day = excluded.day THEN failed_that_day ELSE 0 END
                """
        ).execute(arguments: [receipt.id.bytes.blob, now, failedCount, today])
        return .counted
    }

    /// Adds what did not open, up to the day's limit for one device; returns how many that were.
    private static func countFailures(
        of receipt: ShownReceipt, before: Int, at now: Int64, in db: Database
    ) throws -> Int {
        var left = max(0, ReceiptDevice.maximumFailuresPerDay - before)
        let limit = left
        var failures = receipt.failures.map { ($0.rawValue, $1) }.sorted { $0.0 < $1.0 }
        failures.append((ReceiptTally.otherReason, receipt.otherFailureCount))
        for (reason, count) in failures where count > 0 {
            try Tally.add(ReceiptTally.failed(reason), min(count, left), at: now, in: db)
            left -= min(count, left)
            try db.cachedStatement(
                sql: """
                    INSERT INTO receipt_failures(id, reason, last) VALUES (?, ?, ?)
                    ON CONFLICT(id, reason) DO UPDATE SET last = MAX(last, excluded.last)
                    """
            ).execute(arguments: [receipt.id.bytes.blob, reason, now])
        }
        return limit - left
    }

    /// Whether it came before.
    private static func isKnown(_ receipt: ShownReceipt, in db: Database) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS(SELECT 1 FROM receipt_numbers WHERE id = ? AND number = ?)"),
            arguments: [receipt.id.bytes.blob, receipt.number.blob]) ?? false
    }

    /// How many of a device were counted on a day.
    private static func counts(of id: ReceiptID, on day: Int64, in db: Database) throws -> (shown: Int, failed: Int) {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: "SELECT shown_that_day, failed_that_day FROM receipt_devices WHERE id = ? AND day = ?"),
            arguments: [id.bytes.blob, day])
        return (try row?.count("shown_that_day") ?? 0, try row?.count("failed_that_day") ?? 0)
    }

    /// Devices and days for 60 days; numbers for as long as their receipts would be believed, and a day more.
    static func purge(at now: Int64, in db: Database) throws {
        let day = now / Tally.millisecondsPerDay
        try db.execute(sql: "DELETE FROM receipt_numbers WHERE day < ?", arguments: [day - 8])
        for table in ["receipt_devices", "receipt_failures"] {
            try db.execute(sql: "DELETE FROM \(table) WHERE last < ?", arguments: [now - 60 * Tally.millisecondsPerDay])
        }
    }
}
