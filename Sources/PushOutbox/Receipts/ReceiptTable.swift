internal import GRDB
import PushSender
import SealedPush

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Receipts as rows: counts by day, devices, and the numbers of those that came.
enum ReceiptTable {
    static func count(_ receipt: ShownReceipt, at now: Int64, in db: Database) throws -> ReceiptOutcome {
        guard try !isKnown(receipt.number, in: db) else {
            try add(repeated, at: now, in: db)
            return .repeated
        }
        let today = now / Tally.millisecondsPerDay
        guard try count(of: receipt.id, on: today, in: db) < ReceiptDevice.maximumPerDay else {
            try countRefusals(tooMany, 1, at: now, in: db)
            return .tooMany
        }
        // By the device's own day, not today: it is refused once that day is too long ago.
        let made = receipt.created.secondsSince1970 * 1_000 / Tally.millisecondsPerDay
        try db.cachedStatement(sql: "INSERT INTO receipt_numbers(number, day) VALUES (?, ?)")
            .execute(arguments: [Data(receipt.number), max(made, today)])
        let failedCount = receipt.failures.values.reduce(receipt.otherFailureCount, +)
        try add(shown, at: now, in: db)
        try add(speed(receipt.elapsed), at: now, in: db)
        for (reason, count) in receipt.failures { try add(failed(reason.rawValue), count, at: now, in: db) }
        try add(failed(otherReason), receipt.otherFailureCount, at: now, in: db)
        try db.cachedStatement(
            sql: """
                INSERT INTO receipt_devices(id, last, shown, failed, day, shown_that_day) VALUES (?, ?, 1, ?, ?, 1)
                ON CONFLICT(id) DO UPDATE SET last = MAX(last, excluded.last), shown = shown + 1,
                    failed = failed + excluded.failed, day = excluded.day,
                    shown_that_day = CASE WHEN day = excluded.day THEN shown_that_day + 1 ELSE 1 END
                """
        ).execute(arguments: [data(receipt.id), now, failedCount, today])
        return .counted
    }

    static func countRefusals(_ code: String, _ count: Int, at now: Int64, in db: Database) throws {
        try add(refused(code), count, at: now, in: db)
    }

    private static func isKnown(_ number: [UInt8], in db: Database) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS(SELECT 1 FROM receipt_numbers WHERE number = ?)"),
            arguments: [Data(number)]) ?? false
    }

    /// How many of a device were counted on a day.
    private static func count(of id: ReceiptID, on day: Int64, in db: Database) throws -> Int {
        try Int.fetchOne(
            db.cachedStatement(sql: "SELECT shown_that_day FROM receipt_devices WHERE id = ? AND day = ?"),
            arguments: [data(id), day]) ?? 0
    }

    /// Devices and days for 60 days; numbers for as long as their receipts would be believed, and a day more.
    static func purge(at now: Int64, in db: Database) throws {
        let day = now / Tally.millisecondsPerDay
        try db.execute(sql: "DELETE FROM receipt_numbers WHERE day < ?", arguments: [day - 8])
        try db.execute(sql: "DELETE FROM receipt_tallies WHERE day < ?", arguments: [day - 60])
        try db.execute(
            sql: "DELETE FROM receipt_devices WHERE last < ?", arguments: [now - 60 * Tally.millisecondsPerDay])
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

    /// The first limit that the time is not beyond.
    private static func speed(_ elapsed: Duration) -> String {
        let limit = ReceiptDay.speedLimits.first { elapsed <= $0 }
        return within(limit.map { String($0.milliseconds) } ?? "more")
    }

    static func data(_ id: ReceiptID) -> Data { Data(id.bytes) }

    static let shown = "shown"
    static let repeated = "repeated"
    static let otherReason = "other"
    static let tooMany = "too-many"
    static func failed(_ reason: String) -> String { "failed:\(reason)" }
    static func refused(_ reason: String) -> String { "refused:\(reason)" }
    static func within(_ limit: String) -> String { "within:\(limit)" }
}
