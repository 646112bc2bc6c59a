internal import GRDB
import PushSender
import SealedPush

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension SQLiteStore {
    func count(_ receipts: [ShownReceipt], refused: [ReceiptError: Int]) async throws(OutboxError) -> [ReceiptOutcome] {
        let now = clock.now()
        return try await write { db in
            for (error, count) in refused { try ReceiptTable.countRefusals(error.rawValue, count, at: now, in: db) }
            return try receipts.map { try ReceiptTable.count($0, at: now, in: db) }
        }
    }

    func receipts(days: Int) async throws(OutboxError) -> ReceiptReport {
        let now = clock.now()
        let today = now / Tally.millisecondsPerDay
        let first = today - Int64(days) + 1
        return try await read { db in
            var days: [Int64: ReceiptDay] = [:]
            let rows = try Row.fetchAll(
                db, sql: "SELECT day, outcome, count FROM receipt_tallies WHERE day >= ?", arguments: [first])
            for row in rows {
                let day: Int64 = try row.value("day")
                days[day, default: ReceiptDay(number: day)].add(try row.value("outcome"), try row.count("count"))
            }
            let accepted = try Row.fetchAll(
                db, sql: "SELECT day, count FROM tallies WHERE day >= ? AND outcome = ?",
                arguments: [first, Tally.accepted])
            for row in accepted {
                let day: Int64 = try row.value("day")
                days[day, default: ReceiptDay(number: day)].acceptedCount = try row.count("count")
            }
            let devices = try Row.fetchOne(
                db,
                sql:
                    "SELECT COUNT(*) AS all_of_them, COUNT(*) FILTER (WHERE failed > 0) AS failing FROM receipt_devices WHERE last >= ?",
                arguments: [first * Tally.millisecondsPerDay])
            return ReceiptReport(
                deviceCount: try devices?.count("all_of_them") ?? 0,
                failingDeviceCount: try devices?.count("failing") ?? 0,
                failingDevices: try ReceiptTable.failingDevices(since: first * Tally.millisecondsPerDay, in: db),
                registeredDeviceCount: try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM devices") ?? 0,
                days: days.values.sorted { $0.start < $1.start })
        }
    }

    func receipts(of id: ReceiptID) async throws(OutboxError) -> ReceiptDevice? {
        try await read { db in
            let row = try Row.fetchOne(
                db, sql: "SELECT last, shown, failed FROM receipt_devices WHERE id = ?",
                arguments: [ReceiptTable.data(id)])
            return try row.map { row in
                ReceiptDevice(
                    last: Timestamp(clamping: try row.value("last") / 1_000), shownCount: try row.count("shown"),
                    failedCount: try row.count("failed"))
            }
        }
    }
}

/// Receipts as rows: counts by day, devices, and the numbers of those that came.
///
/// A device says what it likes about itself, in bounds; nothing about another.
enum ReceiptTable {
    static func count(_ receipt: ShownReceipt, at now: Int64, in db: Database) throws -> ReceiptOutcome {
        guard try !isKnown(receipt, in: db) else {
            try add(ReceiptTally.repeated, at: now, in: db)
            return .repeated
        }
        let today = now / Tally.millisecondsPerDay
        let before = try counts(of: receipt.id, on: today, in: db)
        guard before.shown < ReceiptDevice.maximumPerDay else {
            try countRefusals(ReceiptTally.tooMany, 1, at: now, in: db)
            return .tooMany
        }
        // By the device's own day, not today: it is refused once that day is too long ago.
        let made = receipt.created.secondsSince1970 * 1_000 / Tally.millisecondsPerDay
        try db.cachedStatement(sql: "INSERT INTO receipt_numbers(id, number, day) VALUES (?, ?, ?)")
            .execute(arguments: [data(receipt.id), Data(receipt.number), max(made, today)])
        try add(ReceiptTally.shown, at: now, in: db)
        try add(ReceiptTally.speed(receipt.elapsed), at: now, in: db)
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
        ).execute(arguments: [data(receipt.id), now, failedCount, today])
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
            try add(ReceiptTally.failed(reason), min(count, left), at: now, in: db)
            left -= min(count, left)
            try db.cachedStatement(
                sql: """
                    INSERT INTO receipt_failures(id, reason, last) VALUES (?, ?, ?)
                    ON CONFLICT(id, reason) DO UPDATE SET last = MAX(last, excluded.last)
                    """
            ).execute(arguments: [data(receipt.id), reason, now])
        }
        return limit - left
    }

    /// How many devices had something of each reason since a moment.
    static func failingDevices(since first: Int64, in db: Database) throws -> [String: Int] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT reason, COUNT(*) FROM receipt_failures WHERE last >= ? GROUP BY reason",
            arguments: [first])
        return Dictionary(try rows.map { (try $0.value(at: 0), try $0.count(at: 1)) }, uniquingKeysWith: +)
    }

    static func countRefusals(_ code: String, _ count: Int, at now: Int64, in db: Database) throws {
        try add(ReceiptTally.refused(code), count, at: now, in: db)
    }

    /// Whether it came before.
    private static func isKnown(_ receipt: ShownReceipt, in db: Database) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS(SELECT 1 FROM receipt_numbers WHERE id = ? AND number = ?)"),
            arguments: [data(receipt.id), Data(receipt.number)]) ?? false
    }

    /// How many of a device were counted on a day.
    private static func counts(of id: ReceiptID, on day: Int64, in db: Database) throws -> (shown: Int, failed: Int) {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: "SELECT shown_that_day, failed_that_day FROM receipt_devices WHERE id = ? AND day = ?"),
            arguments: [data(id), day])
        return (try row?.count("shown_that_day") ?? 0, try row?.count("failed_that_day") ?? 0)
    }

    /// Devices and days for 60 days; numbers for as long as their receipts would be believed, and a day more.
    static func purge(at now: Int64, in db: Database) throws {
        let day = now / Tally.millisecondsPerDay
        try db.execute(sql: "DELETE FROM receipt_numbers WHERE day < ?", arguments: [day - 8])
        try db.execute(sql: "DELETE FROM receipt_tallies WHERE day < ?", arguments: [day - 60])
        for table in ["receipt_devices", "receipt_failures"] {
            try db.execute(sql: "DELETE FROM \(table) WHERE last < ?", arguments: [now - 60 * Tally.millisecondsPerDay])
        }
    }

    private static func add(_ outcome: String, _ count: Int = 1, at now: Int64, in db: Database) throws {
        guard count > 0 else { return }
        try db.cachedStatement(
            sql: """
                INSERT INTO receipt_tallies(day, outcome, count) VALUES (?, ?, ?)
                ON CONFLICT(day, outcome) DO UPDATE SET count = count + excluded.count
                """
        ).execute(arguments: [now / Tally.millisecondsPerDay, outcome, count])
    }

    static func data(_ id: ReceiptID) -> Data { Data(id.bytes) }
}
