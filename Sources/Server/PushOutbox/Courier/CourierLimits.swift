/// The limits of a courier.
public struct CourierLimits: Hashable, Sendable {
    /// The maximum number of pushes in transit: as many as the transport holds without queueing. Each takes a few KB.
    public let inFlightCount: Int
    /// How long a push belongs to this courier before another one may send it. Must be longer than the transport waits for
    /// a response. It is extended while a response is outstanding.
    public let lease: Duration
    /// How often the file is checked while nothing is due, since other processes enqueue, too.
    public let pollInterval: Duration
    /// The number of consecutive refusals that ends the run. Only reasons that may concern all pushes count, and an
    /// accepted push resets the count. At the limit, the environment, key, or app must be wrong, not each address. If the
    /// carrier has accepted pushes of this outbox before, only addresses with an accepted push count.
    package var refusedInARow = 100
    /// A factor for all of the courier's own delays: less than 1 if waiting isn't practical, as in a rehearsal.
    package var delayFactor = 1.0

    /// Creates limits.
    public init(
        inFlightCount: Int = 1_000, lease: Duration = .seconds(120), pollInterval: Duration = .milliseconds(250)
    ) {
        precondition(inFlightCount > 0, "a courier must have room for at least one push in transit")
        precondition(lease > .zero && lease <= .seconds(3_600), "a lease must last more than zero and at most one hour")
        precondition(pollInterval > .zero, "a courier that checks without a pause would use a whole core")
        self.inFlightCount = inFlightCount
        self.lease = lease
        self.pollInterval = pollInterval
    }
}

extension Courier {
    /// When a courier is done.
    public enum Goal: Hashable, Sendable {
        /// Never: the courier runs until it is stopped.
        case stopped
        /// When no push is in transit and none comes due within the given time. Pushes deferred longer stay queued.
        case nothingDue(within: Duration)
        /// When no pushes are waiting anymore.
        case empty
    }
}
