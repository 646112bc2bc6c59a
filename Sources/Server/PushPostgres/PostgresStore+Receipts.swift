#if Postgres
import PushOutbox
import PushSender
import SealedPush
import PushCore

extension PostgresStore {
    func count(
        _ receipts: [ShownReceipt], refused: [ReceiptError: Int]
    ) async throws(OutboxError) -> [ReceiptOutcome] {
        try await write { db, now throws(OutboxError) in
            for (error, count) in refused {
                try Self.tally(ReceiptTally.refused(error.rawValue), count, at: now, db)
            }
            // Receipts of one device are counted one after another, because there is a limit for each device.
            try Self.lock(receipts, at: now, db)
            var outcomes: [ReceiptOutcome] = []
            for receipt in receipts { outcomes.append(try Self.count(receipt, at: now, db)) }
            return outcomes
        }
    }

    /// Holds the rows of the receipts' devices until the transaction ends, in an order that is the same for every caller.
    private static func lock(
        _ receipts: [ShownReceipt], at now: Int64, _ db: PostgresConnection
    ) throws(OutboxError) {
        let ids = PostgresValue.byteArrays(receipts.map { Array($0.id.bytes) })
        try db.rows(
            """
            INSERT INTO sealed_push.receipt_devices(id, last, shown, failed, day, shown_that_day, failed_that_day)
            SELECT DISTINCT id, $2, 0, 0, $3, 0, 0 FROM unnest($1::bytea[]) AS ids(id) ORDER BY id
            ON CONFLICT (id) DO NOTHING
            """, [ids, .int(now), .int(Day(of: now).number)])
        try db.rows("SELECT 1 FROM sealed_push.receipt_devices WHERE id = ANY($1) ORDER BY id FOR UPDATE", [ids])
    }

    private static func count(
        _ receipt: ShownReceipt, at now: Int64, _ db: PostgresConnection
    ) throws(OutboxError) -> ReceiptOutcome {
        let (id, number) = (PostgresValue.bytes(receipt.id.bytes), PostgresValue.bytes(receipt.number))
        let known = try db.row(
            """
            SELECT EXISTS (SELECT 1 FROM sealed_push.receipt_numbers WHERE id = $1 AND number = $2) AS is_known,
                coalesce(max(shown_that_day), 0) AS shown, coalesce(max(failed_that_day), 0) AS failed
            FROM sealed_push.receipt_devices WHERE id = $1 AND day = $3
            """, [id, number, .int(Day(of: now).number)])
        let count = ReceiptCount(of: receipt, knowing: try KnownReceipts(known), at: now)
        for (outcome, number) in count.tallies { try tally(outcome, number, at: now, db) }
        guard let row = count.row else { return count.outcome }
        try db.rows(
            "INSERT INTO sealed_push.receipt_numbers(id, number, day) VALUES ($1, $2, $3)",
            [id, number, .int(row.numberDay)])
        for reason in row.reasons {
            try db.rows(
                """
                INSERT INTO sealed_push.receipt_failures AS f(id, reason, last) VALUES ($1, $2, $3)
                ON CONFLICT (id, reason) DO UPDATE SET last = greatest(f.last, $3)
                """, [id, .text(reason), .int(row.arrived)])
        }
        try db.rows(
            """
            INSERT INTO sealed_push.receipt_devices AS r(
                id, last, shown, failed, day, shown_that_day, failed_that_day)
            VALUES ($1, $2, 1, $3, $4, $5, $6)
            ON CONFLICT (id) DO UPDATE SET last = greatest(r.last, $2),
                shown = least(r.shown, \(most)) + 1, failed = least(r.failed, \(most)) + $3, day = $4,
                shown_that_day = $5, failed_that_day = $6
            """,
            [
                id, .int(row.arrived), .int(Int64(row.failedCount)), .int(row.day), .int(Int64(row.dayShownCount)),
                .int(Int64(row.dayFailedCount)),
            ])
        return count.outcome
    }

    private static func tally(
        _ outcome: String, _ count: Int, at now: Int64, _ db: PostgresConnection
    ) throws(OutboxError) {
        guard count > 0 else { return }
        try db.rows(
            "INSERT INTO sealed_push.receipt_tallies(day, outcome, count) VALUES ($1, $2, $3)",
            [.int(Day(of: now).number), .text(outcome), .int(Int64(count))])
    }

    /// A sum that continued from a larger value would overflow and stop the counting.
    private static let most = 1 << 62

    func receipts(days: Int) async throws(OutboxError) -> ReceiptReport {
        try await read { db, now throws(OutboxError) in
            let first = Day(firstOf: days, at: now)
            let tallies = try db.rows(
                """
                SELECT day, outcome, \(Self.sum) AS count FROM (SELECT * FROM sealed_push.receipt_tallies
                    UNION ALL SELECT * FROM sealed_push.tallies WHERE outcome = $2) AS tallies
                WHERE day >= $1 GROUP BY day, outcome
                """, [.int(first.number), .text(Tally.accepted)])
            let start = PostgresValue.int(first.start)
            let devices = try db.row(
                """
                SELECT count(*) AS devices, count(*) FILTER (WHERE failed > 0) AS failing,
                    (SELECT count(*) FROM sealed_push.devices) AS registered
                FROM sealed_push.receipt_devices WHERE last >= $1
                """, [start])
            let failing = try db.counts(by: "reason", in: "receipt_failures", where: "last >= $1", [start])
            return try ReceiptReport(devices, tallies: Array(tallies), failingDevices: failing)
        }
    }

    func receipts(of id: ReceiptID) async throws(OutboxError) -> ReceiptDevice? {
        try await read { db, _ throws(OutboxError) in
            let sql = "SELECT last, shown, failed FROM sealed_push.receipt_devices WHERE id = $1"
            return try db.rows(sql, [.bytes(id.bytes)]).first.map { row throws(OutboxError) in
                try ReceiptDevice(row)
            }
        }
    }
}
#endif
