/// How a courier works.
public struct CourierLimits: Hashable, Sendable {
    /// Pushes on their way at once: what the transport can hold without queueing. One takes some kilobytes.
    public var inFlightCount: Int
    /// How long a push is this courier's before another may send it: longer than the transport waits for an answer. It is
    /// extended while an answer is out.
    public var lease: Duration
    /// How often the file is looked into while nothing is due: other processes enqueue, too.
    public var pollInterval: Duration
    /// How long a stopped courier waits for answers that are out.
    public var drain: Duration
    /// How often a push is tried that is refused for a reason which its transport does not know.
    public var unknownAttempts: Int
    /// How many refusals in a row whose reason may concern all pushes, without one that is taken, end the run: then the
    /// environment, the key or the app is wrong, and not each address.
    public var refusedInARow: Int
    public var delays: RetryDelays

    public init(
        inFlightCount: Int = 1_000, lease: Duration = .seconds(120), pollInterval: Duration = .milliseconds(250),
        drain: Duration = .seconds(30), unknownAttempts: Int = 3, refusedInARow: Int = 100,
        delays: RetryDelays = RetryDelays()
    ) {
        precondition(inFlightCount > 0, "a courier has one push on its way at least")
        precondition(lease > .zero && lease <= .seconds(3_600), "a lease lasts one hour at most")
        self.inFlightCount = inFlightCount
        self.lease = lease
        self.pollInterval = pollInterval
        self.drain = drain
        self.unknownAttempts = unknownAttempts
        self.refusedInARow = refusedInARow
        self.delays = delays
    }
}
