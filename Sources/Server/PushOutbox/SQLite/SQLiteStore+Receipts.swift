internal import GRDB
import PushSender
import SealedPush

extension SQLiteStore {
    func count(_ receipts: [ShownReceipt], refused: [ReceiptError: Int]) async throws(OutboxError) -> [ReceiptOutcome] {
        try await write { db, now in
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
            let totals = try db.row(
                """
                SELECT COUNT(*) AS devices, COUNT(*) FILTER (WHERE failed > 0) AS failing,
                    (SELECT COUNT(*) FROM devices) AS registered
                FROM receipt_devices WHERE last >= ?
                """, [start])
            guard let totals else { throw OutboxError.damaged }
            let tallies = try db.rows(
                "SELECT day, outcome, count FROM tallies WHERE day >= ? AND (outcome = ? OR outcome GLOB ?)",
                [first, Tally.accepted, "\(ReceiptTally.prefix)*"])
            let failing = try Self.counts(
                "SELECT reason AS name, COUNT(*) AS count FROM receipt_failures WHERE last >= ? GROUP BY reason",
                [start], in: db)
            return try ReceiptReport(totals, tallies: tallies, failingDevices: failing)
        }
    }

    func receipts(of id: ReceiptID) async throws(OutboxError) -> ReceiptDevice? {
        try await read { db in
            let row = try db.row("SELECT last, shown, failed FROM receipt_devices WHERE id = ?", [id.bytes.blob])
            return try row.map { try ReceiptDevice($0) }
        }
    }
}

/// Receipts as rows: counts by day, devices, and the numbers of counted receipts. A device can report anything about
/// itself, within limits, but nothing about another device.
enum ReceiptTable {
    static func count(_ receipt: ShownReceipt, at now: Int64, in db: Database) throws -> ReceiptOutcome {
        let known = try db.row(
            "SELECT 1 FROM receipt_numbers WHERE id = ? AND number = ?", [receipt.id.bytes.blob, receipt.number.blob])
        guard known == nil else {
            try Tally.add(ReceiptTally.repeated, at: now, in: db)
            return .repeated
        }
        let today = now / Tally.millisecondsPerDay
        let before = try counts(of: receipt.id, on: today, in: db)
        guard before.shown < ReceiptDevice.maximumPerDay else {
            try Tally.add(ReceiptTally.refused(ReceiptTally.tooMany), at: now, in: db)
            return .tooMany
        }
        // By the device's own day, if that is later: the receipt is refused only once that day is too long ago.
        let made = receipt.created.secondsSince1970 * 1_000 / Tally.millisecondsPerDay
        try db.run(
            "INSERT INTO receipt_numbers(id, number, day) VALUES (?, ?, ?)",
            [receipt.id.bytes.blob, receipt.number.blob, max(made, today)])
        try Tally.add(ReceiptTally.shown, at: now, in: db)
        try Tally.add(ReceiptTally.speed(receipt.elapsed), at: now, in: db)
        let failures = receipt.countedFailures(before: before.failed)
        for (reason, count) in failures {
            try Tally.add(ReceiptTally.failed(reason), count, at: now, in: db)
            try db.run(
                """
                INSERT INTO receipt_failures(id, reason, last) VALUES (?, ?, ?)
                ON CONFLICT(id, reason) DO UPDATE SET last = MAX(last, excluded.last)
                """, [receipt.id.bytes.blob, reason, now])
        }
        try db.run(
            """
            INSERT INTO receipt_devices(id, last, shown, failed, day, shown_that_day, failed_that_day)
            VALUES (?1, ?2, 1, ?3, ?4, 1, ?3)
            ON CONFLICT(id) DO UPDATE SET last = MAX(last, excluded.last), shown = \(SafeNumber.sum("shown", "1")),
                failed = \(SafeNumber.sum("failed", "excluded.failed")), day = excluded.day,
                shown_that_day = CASE WHEN day = excluded.day THEN \(SafeNumber.sum("shown_that_day", "1")) ELSE 1 END,
                failed_that_day = excluded.failed
                    + CASE WHEN day = excluded.day THEN \(SafeNumber.sum("failed_that_day", "0")) ELSE 0 END
            """, [receipt.id.bytes.blob, now, failures.map(\.count).reduce(0, +), today])
        return .counted
    }

    /// Returns how many receipts of a device were counted on a day.
    private static func counts(of id: ReceiptID, on day: Int64, in db: Database) throws -> (shown: Int, failed: Int) {
        let row = try db.row(
            "SELECT shown_that_day, failed_that_day FROM receipt_devices WHERE id = ? AND day = ?",
            [id.bytes.blob, day])
        return (try row?.count("shown_that_day") ?? 0, try row?.count("failed_that_day") ?? 0)
    }

    /// Keeps devices and days for 60 days, and numbers for one day longer than their receipts are accepted.
    static func purge(at now: Int64, in db: Database) throws {
        let day = now / Tally.millisecondsPerDay
        try db.run("DELETE FROM receipt_numbers WHERE day < ?", [day - 8])
        for table in ["receipt_devices", "receipt_failures"] {
            try db.run("DELETE FROM \(table) WHERE last < ?", [now - 60 * Tally.millisecondsPerDay])
        }
    }
}
