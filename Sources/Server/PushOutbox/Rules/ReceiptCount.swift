package import PushSender

/// The changes that a store makes for one receipt. A device can report anything about itself, within limits, but nothing
/// about another device.
package struct ReceiptCount: Equatable, Sendable {
    package let outcome: ReceiptOutcome
    /// The numbers to add to the day's tallies, by name.
    package let tallies: [String: Int]
    /// The row to store, or `nil` if the receipt doesn't count.
    package let row: ReceiptRow?

    /// Counts a receipt, in the order in which receipts arrive.
    package init(of receipt: ShownReceipt, knowing known: KnownReceipts, at now: Int64) {
        guard !known.includesReceipt else {
            self.init(.repeated, [ReceiptTally.repeated: 1])
            return
        }
        guard known.dayShownCount < ReceiptDevice.maximumPerDay else {
            self.init(.tooMany, [ReceiptTally.refused(ReceiptTally.tooMany): 1])
            return
        }
        var tallies = [ReceiptTally.shown: 1, ReceiptTally.speed(receipt.elapsed): 1]
        let failures = receipt.countedFailures(before: known.dayFailedCount)
        for (reason, count) in failures where count > 0 { tallies[ReceiptTally.failed(reason)] = count }
        let failedCount = failures.map(\.count).reduce(0, +)
        let day = Day(of: now).number
        // By the device's own day, if that is later: the receipt is refused only once that day is too long ago.
        let made = Day(of: receipt.created.secondsSince1970 * 1_000).number
        self.init(
            .counted, tallies,
            ReceiptRow(
                id: receipt.id, number: receipt.number, numberDay: max(made, day), arrived: now,
                reasons: failures.map(\.reason), failedCount: failedCount, day: day,
                dayShownCount: known.dayShownCount + 1, dayFailedCount: known.dayFailedCount + failedCount))
    }

    private init(_ outcome: ReceiptOutcome, _ tallies: [String: Int], _ row: ReceiptRow? = nil) {
        (self.outcome, self.tallies, self.row) = (outcome, tallies, row)
    }
}

extension ShownReceipt {
    /// Returns the failures and how many of each to count, up to the day's limit for one device. `before` is the number
    /// counted earlier that day.
    fileprivate func countedFailures(before: Int) -> [(reason: String, count: Int)] {
        var left = max(0, ReceiptDevice.maximumFailuresPerDay - before)
        let all =
            failures.map { ($0.rawValue, $1) }.sorted { $0.0 < $1.0 } + [(ReceiptTally.otherReason, otherFailureCount)]
        return all.filter { $0.1 > 0 }.map { reason, count in
            defer { left -= min(count, left) }
            return (reason, min(count, left))
        }
    }
}
