internal import GRDB
import PushSender
import SealedPush

extension SQLiteStore {
    func count(_ receipts: [ShownReceipt], refused: [ReceiptError: Int]) async throws(OutboxError) -> [ReceiptOutcome] {
        try await write { db, now in
            for (error, count) in refused {
                try ReceiptTable.tally(ReceiptTally.refused(error.rawValue), count, at: now, in: db)
            }
            return try receipts.map { try ReceiptTable.count($0, at: now, in: db) }
        }
    }

    func receipts(days: Int) async throws(OutboxError) -> ReceiptReport {
        let first = Day(firstOf: days, at: clock.now())
        return try await read { db in
            let totals = try db.row(
                """
                SELECT COUNT(*) AS devices, COUNT(*) FILTER (WHERE failed > 0) AS failing,
                    (SELECT COUNT(*) FROM devices) AS registered
                FROM receipt_devices WHERE last >= ?
                """, [first.start])
            guard let totals else { throw OutboxError.damaged }
            let tallies = try db.rows(
                "SELECT day, outcome, count FROM tallies WHERE day >= ? AND (outcome = ? OR outcome GLOB ?)",
                [first.number, Tally.accepted, "\(ReceiptTally.prefix)*"])
            let failing = try Self.counts(
                "SELECT reason AS name, COUNT(*) AS count FROM receipt_failures WHERE last >= ? GROUP BY reason",
                [first.start], in: db)
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

/// Receipts as rows: counts by day, devices, and the numbers of counted receipts.
enum ReceiptTable {
    static func count(_ receipt: ShownReceipt, at now: Int64, in db: Database) throws -> ReceiptOutcome {
        let id = receipt.id.bytes.blob
        let known = try db.row(
            """
            SELECT EXISTS (SELECT 1 FROM receipt_numbers WHERE id = ?1 AND number = ?2) AS is_known,
                COALESCE(MAX(shown_that_day), 0) AS shown, COALESCE(MAX(failed_that_day), 0) AS failed
            FROM receipt_devices WHERE id = ?1 AND day = ?3
            """, [id, receipt.number.blob, Day(of: now).number])
        guard let known else { throw OutboxError.damaged }
        let count = ReceiptCount(of: receipt, knowing: try KnownReceipts(known), at: now)
        for (outcome, number) in count.tallies { try tally(outcome, number, at: now, in: db) }
        guard let row = count.row else { return count.outcome }
        try db.run(
            "INSERT INTO receipt_numbers(id, number, day) VALUES (?, ?, ?)", [id, row.number.blob, row.numberDay])
        for reason in row.reasons {
            try db.run(
                """
                INSERT INTO receipt_failures(id, reason, last) VALUES (?, ?, ?)
                ON CONFLICT(id, reason) DO UPDATE SET last = MAX(last, excluded.last)
                """, [id, reason, row.arrived])
        }
        try db.run(
            """
            INSERT INTO receipt_devices(id, last, shown, failed, day, shown_that_day, failed_that_day)
            VALUES (?, ?, 1, ?, ?, ?, ?)
            ON CONFLICT(id) DO UPDATE SET last = MAX(last, excluded.last), shown = \(SafeNumber.sum("shown", "1")),
                failed = \(SafeNumber.sum("failed", "excluded.failed")), day = excluded.day,
                shown_that_day = excluded.shown_that_day, failed_that_day = excluded.failed_that_day
            """, [id, row.arrived, row.failedCount, row.day, row.dayShownCount, row.dayFailedCount])
        return count.outcome
    }

    static func tally(_ outcome: String, _ count: Int, at now: Int64, in db: Database) throws {
        guard count > 0 else { return }
        try db.run(
            """
            INSERT INTO tallies(day, outcome, count) VALUES (?, ?, ?)
            ON CONFLICT(day, outcome) DO UPDATE SET count = \(SafeNumber.sum("count", "excluded.count"))
            """, [Day(of: now).number, outcome, count])
    }
}
