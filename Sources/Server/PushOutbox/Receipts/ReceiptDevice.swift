public import SealedPush

/// The receipt counts of one device.
public struct ReceiptDevice: Hashable, Sendable {
    /// The time of the last receipt.
    public let last: Timestamp
    /// The number of messages shown.
    public let shownCount: Int
    /// The number of messages that didn't open.
    public let failedCount: Int

    package init(_ row: some OutboxRow) throws(OutboxError) {
        last = try row.time("last")
        shownCount = try row.count("shown")
        failedCount = try row.count("failed")
    }

    /// The maximum number of messages per day, in UTC, so that a single device's key can't fill the server's disk.
    public static let maximumPerDay = 1_000
    /// The maximum number of failures per day, in UTC, so that no device dominates the totals. Further ones are ignored.
    public static let maximumFailuresPerDay = 1_000
}
