internal import GRDB
public import PushSender
public import SealedPush

extension Outbox {
    /// Counts a receipt, durably. About 10 ms, most of it the disk's.
    @discardableResult
    public func count(_ receipt: ShownReceipt) async throws(OutboxError) -> ReceiptOutcome {
        try await count([receipt])[0]
    }

    /// Counts many in one transaction, and what was refused meanwhile, for the operator to see.
    ///
    /// - Returns: what became of each, in their order.
    @discardableResult
    public func count(
        _ receipts: [ShownReceipt], refused: [ReceiptError: Int] = [:]
    ) async throws(OutboxError) -> [ReceiptOutcome] {
        let now = clock.now()
        return try await write { db in
            for (error, count) in refused { try ReceiptTable.countRefusals(error.rawValue, count, at: now, in: db) }
            return try receipts.map { try ReceiptTable.count($0, at: now, in: db) }
        }
    }

    /// What devices have said in the last `days` days, today included, at most 60.
    public func receipts(days: Int = 30) async throws(OutboxError) -> ReceiptReport {
        let now = clock.now()
        let today = now / Tally.millisecondsPerDay
        let first = today - Int64(max(1, min(days, 60))) + 1
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
                failingDevices: try ReceiptTable.failingDevices(
                    since: first * Tally.millisecondsPerDay, in: db),
                registeredDeviceCount: try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM devices") ?? 0,
                days: days.values.sorted { $0.start < $1.start })
        }
    }

    /// When a device's last receipt came, and how much it has told; nil where none has come for 60 days.
    public func receipts(of id: ReceiptID) async throws(OutboxError) -> ReceiptDevice? {
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
