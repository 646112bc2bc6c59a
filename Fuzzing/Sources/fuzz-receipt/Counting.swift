import FuzzSupport
import PushSender

@testable import PushOutbox

/// An empty outbox counts this, and not again.
func checkCounting(_ receipt: ShownReceipt, at now: Timestamp) {
    folder.lay([:])
    // The one before may still be closing, and then removes its log by its name.
    databaseCount += 1
    let path = "\(folder.path)/\(databaseCount).sqlite"
    let clock = OutboxClock(now: { now.secondsSince1970 * 1_000 }, sleep: { _ in })
    waiting {
        do {
            let outbox = try Outbox(at: path, clock: clock)
            demand(try await outbox.count([receipt, receipt]) == [.counted, .repeated], "it is not counted once")
            let report = try await outbox.receipts()
            let total = report.total
            demand(total.shownCount == 1 && total.repeatedCount == 1, "the report says \(total)")
            let failed = min(1_000, receipt.failures.values.reduce(receipt.otherFailureCount, +))
            demand(total.failedCount == failed, "\(total.failedCount) did not open, and not \(failed)")
            demand(try await outbox.receipts(of: receipt.id)?.failedCount == failed, "a device's count is another")
        } catch { fatalError("a receipt is not counted: \(error)") }
    }
}

nonisolated(unsafe) private var databaseCount = 0
private let folder = RawFolder(target: "sealed-push-fuzz-receipt")
