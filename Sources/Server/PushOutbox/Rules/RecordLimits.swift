import PushSender

/// The ages at which records other than pushes are deleted.
package struct RecordLimits: Hashable, Sendable {
    /// Idempotency keys and outcomes created before this time are deleted. Milliseconds since 1970, as all times here.
    package let created: Int64
    /// Logins ended before this time.
    package let loginsEnded: Int64
    /// Tallies of earlier days, counted since 1970.
    package let tallyDay: Int64
    /// Devices whose last receipt was earlier.
    package let lastReceipt: Int64
    /// Numbers of receipts of earlier days: one day after their receipts are refused.
    package let receiptDay: Int64

    package init(at now: Int64) {
        let day = Day(of: now).number
        created = now - EnqueueOrder.lifetime
        loginsEnded = now - Self.keptLogins
        tallyDay = day - Self.keptDays
        lastReceipt = now - Self.keptDays * Day.milliseconds
        receiptDay = day - ReceiptBody.maximumAge / 86_400 - 1
    }

    /// Longer than a login would have lasted, even if the clock was a day ahead when it ended. Milliseconds.
    private static let keptLogins = 2_000 * Outbox.loginLifetime + Day.milliseconds
    private static let keptDays: Int64 = 60
}
