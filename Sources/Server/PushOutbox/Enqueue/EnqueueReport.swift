public import SealedPush

/// The result of enqueueing a message.
public struct EnqueueReport: Hashable, Sendable {
    /// The message's ID for ``Outbox/report(on:)``; the same for every call with the same idempotency key.
    public internal(set) var id: MessageID
    /// The number of pushes that this call added to the queue.
    public internal(set) var enqueuedCount = 0
    /// The number of pushes that an earlier call with the same idempotency key enqueued.
    public internal(set) var alreadyEnqueuedCount = 0
    /// The number of devices that got no push, by reason.
    public internal(set) var skipped: [SkipReason: Int] = [:]
    /// The names of the devices skipped as ``SkipReason/notHybrid``; the first 100.
    public internal(set) var notHybrid: [DeviceName] = []

    package static let maximumNameCount = 100
}
