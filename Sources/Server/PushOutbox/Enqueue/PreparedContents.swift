import PushSender

/// An order's content, prepared once for all devices that keep retired keys for the same time. Usually that is one entry,
/// because an app's devices do; there are at most 32.
struct PreparedContents: Sendable {
    private let order: EnqueueOrder
    private let sealer: Sealer
    /// By the number of days; nil for devices without a record.
    private(set) var results: [Int64?: Result<PreparedContent, SealError>] = [:]

    init(_ order: EnqueueOrder, from sealer: Sealer) {
        self.order = order
        self.sealer = sealer
    }

    /// Prepares the content for devices that keep retired keys for this many days, unless that was done before.
    mutating func prepare(keeping days: Int64?, at now: Timestamp) {
        guard results[days] == nil else { return }
        results[days] = Result { () throws(SealError) in try content(keeping: days.map { Int(clamping: $0) }, at: now) }
    }

    private func content(keeping days: Int?, at now: Timestamp) throws(SealError) -> PreparedContent {
        if let days, let expiration = order.expiration { try Sealer.check(expiration, keeping: days, at: now) }
        return try sealer.prepare(order.content, keeping: days, fit: order.fit)
    }
}
