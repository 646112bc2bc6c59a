import PushSender

/// A device's queue and the oldest entry in it, as a store read them. A store only reads and writes rows; ``judge`` decides
/// for every store what happens to the entry.
package struct QueueHead: Sendable {
    /// The device's row.
    let device: Int64
    /// The oldest entry that waits for the device, or `nil` if none does.
    let entry: Entry?
    /// The entry that was taken last, and how often. It may have been removed since then.
    let takenEntry: Int64?
    let takenCount: Int

    struct Entry: Sendable {
        let id: Int64
        /// When the entry expires, in milliseconds since 1970.
        let sendUntil: Int64
        /// Whether the device has an address, and why that address is disabled, if it is.
        let hasAddress: Bool
        let refusal: String?
        /// The entry's columns, or `nil` if they aren't valid.
        let row: EntryRow?
    }

    /// The number of attempts after which delays stop growing, and counting stops.
    private static let countedAttempts = 1_000_000
}

extension QueueHead {
    /// `queue` has the columns `device`, `entry`, and `attempts`. `entry` has `id`, `send_until`, `token_refusal`, and the
    /// columns of ``EntryRow``.
    package init<Row: OutboxRow>(queue: Row, entry: Row?) throws(OutboxError) {
        device = try queue.int("device")
        takenEntry = try queue.optionalInt("entry")
        takenCount = try queue.count("attempts")
        guard let entry else {
            self.entry = nil
            return
        }
        self.entry = Entry(
            id: try entry.int("id"), sendUntil: try entry.int("send_until"),
            hasAddress: try entry.optionalBytes("token") != nil, refusal: try entry.optionalText("token_refusal"),
            row: try? EntryRow(entry))
    }

    /// Decides what happens to the queue's oldest entry, which a courier wants to take at this time.
    ///
    /// - Parameter leaseCount: The number of leases already taken for this order. Leases are numbered consecutively.
    package func judge(for order: LeaseOrder, after leaseCount: Int, at now: Int64) -> QueueVerdict {
        guard let entry else { return .removeQueue }
        // Age comes first: an expired entry counts as such, whatever happened to its device's address.
        if now >= entry.sendUntil {
            return order.removesExpired
                ? .remove(entry: entry.id, outcome: Tally.expired) : .bury(entry: entry.id, reason: Tally.expired)
        }
        // The address was refused by its carrier or removed by its app.
        if let refusal = entry.refusal { return .buryAll(device: device, reason: refusal) }
        guard entry.hasAddress else { return .buryAll(device: device, reason: SkipReason.noToken.rawValue) }
        guard let row = entry.row, let request = row.request(of: order.carrier) else {
            // The row was tampered with. Reject it without stopping the others.
            return .bury(entry: entry.id, reason: "malformed")
        }
        let attempts = takenEntry == entry.id ? min(takenCount, Self.countedAttempts) + 1 : 1
        return .lease(
            Lease(
                device: device, entry: entry.id, number: order.firstNumber + Int64(leaseCount), attempts: attempts,
                request: request, entryRow: row))
    }
}
