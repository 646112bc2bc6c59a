package import SealedPush

/// The progress of a request with an idempotency key.
package struct EnqueueProgress: Equatable, Sendable {
    /// The number of the last device that a range of a broadcast has covered; `.max` if all are.
    package let position: Int64
    package let isComplete: Bool
    package let enqueuedCount: Int
    package let message: MessageID?

    /// Reads the row of the order's key. Throws `keyUsedForOthers` unless the key was used for the same request.
    package init(_ row: some OutboxRow, of order: EnqueueOrder) throws(OutboxError) {
        try order.requireSame(audience: row.text("audience"), fingerprint: row.optionalBytes("fingerprint"))
        position = try row.int("position")
        isComplete = try row.bool("is_complete")
        enqueuedCount = try row.count("enqueued")
        message = try row.optionalText("message").flatMap(MessageID.init(parsing:))
    }

    /// Starts a broadcast's next range, and returns it with the new position. There is none if no device is left.
    ///
    /// - Parameter devices: The numbers of the next devices above the position, in ascending order, at most
    ///   ``EnqueueBatch/maximumCount``.
    package static func next(
        behind position: Int64, _ devices: [Int64]
    ) -> (position: Int64, range: EnqueueRange?) {
        let isLast = devices.count < EnqueueBatch.maximumCount
        return (isLast ? .max : devices.last ?? .max, devices.last.map { (position, $0) })
    }
}
