import PushSender
import SealedPush
import Testing

@testable import PushOutbox
@testable import PushSender

@Suite("Counting a receipt") struct ReceiptCountTests {
    private static let day: Int64 = 20_000
    /// Noon.
    private static let now = day * 86_400_000 + 43_200_000

    private func receipt(
        daysAgo: Int64 = 0, elapsed: UInt32 = 300, failures: [OpenError: Int] = [:], others: Int = 0
    ) -> ShownReceipt {
        let counts = (UInt8(1)...25).map { number in
            if let reason = OpenError(receiptNumber: number) { return UInt16(failures[reason] ?? 0) }
            return number == 25 ? UInt16(others) : 0
        }
        return ShownReceipt(
            ReceiptBody(
                id: ReceiptID([UInt8](repeating: 1, count: 16)), number: [UInt8](repeating: 2, count: 16),
                created: Timestamp(clamping: Self.now / 1_000 - daysAgo * 86_400), elapsedMilliseconds: elapsed,
                counts: counts))
    }

    private func count(
        _ receipt: ShownReceipt, isKnown: Bool = false, shown: Int = 0, failed: Int = 0
    ) -> ReceiptCount {
        ReceiptCount(
            of: receipt,
            knowing: KnownReceipts(includesReceipt: isKnown, dayShownCount: shown, dayFailedCount: failed),
            at: Self.now)
    }

    @Test("a receipt that was counted before is only tallied, even if the device has reached its limit") func repeated()
    {
        for shown in [0, 1_000] {
            let count = count(receipt(failures: [.rejected: 5]), isKnown: true, shown: shown)
            #expect(count.outcome == .repeated)
            #expect(count.tallies == ["receipt:repeated": 1])
            #expect(count.row == nil)
        }
    }

    @Test("a device has 1,000 receipts a day") func tooMany() {
        #expect(count(receipt(), shown: 999).outcome == .counted)
        for shown in [1_000, 1_001, 1 << 40] {
            let count = count(receipt(failures: [.rejected: 5]), shown: shown)
            #expect(count.outcome == .tooMany)
            #expect(count.tallies == ["receipt:refused:too-many": 1])
            #expect(count.row == nil)
        }
    }

    @Test(
        "a receipt counts once by its speed, and for each failure, up to 1,000 failures a day",
        arguments: [
            ([:], 0, 0, [:]),
            ([.rejected: 3], 0, 0, ["rejected": 3]),
            ([.rejected: 3, .clock: 2], 4, 0, ["clock": 2, "other": 4, "rejected": 3]),
            ([.rejected: 3], 0, 998, ["rejected": 2]),
            ([.rejected: 3, .clock: 2], 4, 996, ["clock": 2, "other": 0, "rejected": 2]),
            ([.rejected: 3], 0, 1_000, ["rejected": 0]),
            ([.rejected: 65_535], 0, 1 << 40, ["rejected": 0]),
            ([.clock: 65_535, .rejected: 1], 0, 0, ["clock": 1_000, "rejected": 0]),
        ] as [([OpenError: Int], Int, Int, [String: Int])])
    func counted(failures: [OpenError: Int], others: Int, before: Int, counts: [String: Int]) throws {
        let count = count(receipt(failures: failures, others: others), shown: 6, failed: before)
        #expect(count.outcome == .counted)
        var tallies = ["receipt:shown": 1, "receipt:within:1000": 1]
        for (reason, number) in counts where number > 0 { tallies["receipt:failed:\(reason)"] = number }
        #expect(count.tallies == tallies)
        let row = try #require(count.row)
        // A reason is kept even if no more of its failures count: the device has it.
        #expect(Set(row.reasons) == Set(counts.keys))
        #expect(row.failedCount == counts.values.reduce(0, +))
        #expect(row.day == Self.day)
        #expect(row.dayShownCount == 7)
        #expect(row.dayFailedCount == before + row.failedCount)
    }

    @Test("a receipt's number is kept under the day on which it was made or arrived, whichever is later")
    func numberDay() {
        for (daysAgo, day) in [(0, Self.day), (1, Self.day), (7, Self.day), (-1, Self.day + 1)] {
            let row = count(receipt(daysAgo: Int64(daysAgo))).row
            #expect(row?.numberDay == day)
            #expect(row?.day == Self.day)
        }
    }

    @Test(
        "a speed counts under the first limit that it doesn't exceed",
        arguments: [(0, "250"), (250, "250"), (251, "1000"), (5_000, "5000"), (15_000, "15000"), (15_001, "more")])
    func speed(elapsed: UInt32, limit: String) {
        #expect(count(receipt(elapsed: elapsed)).tallies == ["receipt:shown": 1, "receipt:within:\(limit)": 1])
    }
}
