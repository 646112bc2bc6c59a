public import PushSender
internal import SealedPush

extension Outbox {
    /// Seals a message for devices and stores the sealed payloads in one step, durable on return.
    ///
    /// If the process dies partway through, pushes that weren't stored yet aren't enqueued. With a key, the same call
    /// continues from there and doesn't enqueue any push twice. A device or a user takes one transaction. A broadcast takes
    /// two for each thousand devices, so that it uses little memory and holds the database's lock only briefly. Concurrent
    /// calls with the same key, in any process, share the work: each takes the next thousand. Takes about 10 ms, plus 120
    /// µs of a core for each device that the sealer hasn't seen before.
    ///
    /// - Parameters:
    ///   - message: The content, and how to send it.
    ///   - audience: The recipients.
    ///   - sealer: The sealer for the app, with the sender key that the devices trust.
    ///   - includingUnverified: Whether to include devices whose recipient is unverified.
    ///   - progress: Called after each transaction.
    /// - Throws: `seal`, `unknownDevice`, `unknownUser`, `keyUsedForOthers`, `keyNeeded`, `otherKey`, or the database's
    ///   error.
    @discardableResult public func enqueue(
        _ message: OutgoingMessage, to audience: Audience, from sealer: Sealer, includingUnverified: Bool = false,
        progress: (@Sendable (EnqueueReport) -> Void)? = nil
    ) async throws(OutboxError) -> EnqueueReport {
        try await requireKey()
        let comparedKey = message.mayDifferUnderKey ? nil : message.key
        let fingerprint = comparedKey.map { sealer.fingerprint(of: message.content, under: $0) }
        var content = message.content
        content.id = content.id ?? .random()
        var order = EnqueueOrder(
            content: content, topic: sealer.topic, audience: audience, priority: message.priority,
            expiration: message.expiration, includesUnverified: includingUnverified,
            // The progress of a broadcast is always recorded under a key.
            key: message.key ?? (audience == .everyone ? .random() : nil), sealedBy: SealedBy(sealer), outboxKey: key,
            fit: message.fit, fingerprint: fingerprint)
        var contents = PreparedContents(order, from: sealer)
        if audience == .everyone {
            // Checked before the key is recorded as used for this content.
            contents.prepare(keeping: nil, at: Timestamp(clamping: clock.now() / 1_000))
            if case .failure(let error)? = contents.results[nil] { throw .seal(error) }
        }
        var report = EnqueueReport(id: order.message)
        var hasStored = false
        var lossCount = 0
        while lossCount < Self.maximumLossCount {
            let batch = try await store.candidates(for: order)
            if !hasStored { report.alreadyEnqueuedCount = batch.alreadyEnqueuedCount }
            order.message = batch.message ?? order.message
            report.id = order.message
            guard !batch.isDone else { return report }
            var skipped = EnqueueBatch.Skipped()
            let now = Timestamp(clamping: clock.now() / 1_000)
            let sealed = try await batch.sealed(order, &contents, with: sealer, at: now, skipped: &skipped)
            guard try await store.enqueue(sealed, of: batch, order) else {
                // Another caller has stored this batch, or a device has changed: read it again if it's still there.
                lossCount += 1
                continue
            }
            (hasStored, lossCount) = (true, 0)
            report.enqueuedCount += sealed.count
            report.skipped.merge(skipped.counts, uniquingKeysWith: +)
            report.notHybrid = Array((report.notHybrid + skipped.notHybrid).prefix(EnqueueReport.maximumNameCount))
            progress?(report)
            if batch.range == nil { return report }
        }
        // A batch that is lost this often can't have been stored by other callers: its rows must be invalid.
        throw .damaged
    }

    private static let maximumLossCount = 1_000
}

/// A device's number (0 for all devices) and name, the message's outcome there, and the outcome's count.
package typealias MessageOutcome = (device: Int64, name: String?, outcome: String, count: Int)
