internal import PushSender

/// The limits of a courier.
public struct CourierLimits: Hashable, Sendable {
    /// The maximum number of pushes in transit: as many as the transport holds without queueing. Each takes a few KB.
    public var inFlightCount: Int
    /// How long a push belongs to this courier before another one may send it. Must be longer than the transport waits for
    /// a response. It is extended while a response is outstanding.
    public var lease: Duration
    /// How often the file is checked while nothing is due, since other processes enqueue, too.
    public var pollInterval: Duration
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

/// The work that a courier has done so far.
public struct CourierReport: Hashable, Sendable {
    /// The number of pushes that the service has accepted.
    public internal(set) var acceptedCount = 0
    /// How long the accepted pushes had waited since they were enqueued.
    public internal(set) var waits = WaitingTimes()
    /// How often a push was deferred, by reason: the service's own, or `unreachable`, `connection-lost`, `timed-out`.
    public internal(set) var deferred: [String: Int] = [:]
    /// Refusals because a device is gone, by the service's reason. The device's waiting pushes are dropped, unless the app
    /// has registered the address since.
    public internal(set) var dropped: [String: Int] = [:]
    /// Refusals that created dead letters, by the service's reason: for one push, or for every push of a device.
    public internal(set) var dead: [String: Int] = [:]
    /// Why the most recent request without a response failed, in the transport's words; public names only.
    public internal(set) var latestFailure: String?
    /// The number of pushes in transit at this moment.
    public internal(set) var inFlightCount = 0

    /// - Parameter waited: The waiting time in milliseconds.
    mutating func add(_ settlement: Settlement, name: String, waited: Int64?) {
        switch settlement {
        case .accepted:
            acceptedCount += 1
            if let waited { waits.add(.milliseconds(max(0, waited))) }
        // A request that this host ended says nothing about the service.
        case .later, .returned: if name != PushTransportError.cancelled.name { deferred[name, default: 0] += 1 }
        case .addressGone: dropped[name, default: 0] += 1
        case .dead, .addressRefused: dead[name, default: 0] += 1
        }
    }

    /// The number of requests that got a response or failed.
    public var attemptCount: Int {
        acceptedCount + [deferred, dropped, dead].reduce(0) { $0 + $1.values.reduce(0, +) }
    }
}

/// A histogram of waiting times, from `enqueue` to the service's response, by this host's clock.
public struct WaitingTimes: Hashable, Sendable {
    /// The number of times that are no longer than each of ``bounds``.
    public private(set) var counts = [Int](repeating: 0, count: bounds.count)
    /// The total number of times.
    public private(set) var count = 0
    /// The sum of all times.
    public private(set) var sum = Duration.zero

    /// The upper bounds, from 10 ms to a day.
    public static let bounds: [Duration] =
        [10, 50, 100, 500].map { .milliseconds($0) }
        + [1, 5, 30, 60, 300, 900, 3_600, 21_600, 86_400].map { .seconds($0) }

    private static let longest = Duration.seconds(30 * 86_400)

    mutating func add(_ time: Duration) {
        count += 1
        // A damaged database may contain any time.
        sum += min(time, Self.longest)
        for (index, bound) in Self.bounds.enumerated() where time <= bound { counts[index] += 1 }
    }
}

/// The reason why a courier stopped early. Undelivered pushes are still waiting.
public enum CourierError: Error, Equatable, Sendable {
    /// The service refuses the sender, its key, or the app, and the transport says why. No push can be delivered until an
    /// operator has corrected it.
    case senderRefused(reason: String, problem: String?)
    /// One push after another was refused for a reason that may concern all of them, and none was accepted. The addresses
    /// refused first are disabled; `Outbox.retry(reason:)` reenables them.
    case allRefused(reason: String, problem: String)
    /// This machine's clock is wrong: the service reports fresh credentials as expired.
    case wrongClock
    /// The transport has been shut down.
    case transportShutDown
    /// The outbox can't be used.
    case outbox(OutboxError)
}

extension CourierError: CustomStringConvertible {
    /// A one-sentence description for people.
    public var description: String {
        switch self {
        case .senderRefused(let reason, let problem): problem ?? "the service refuses this sender (\(reason))"
        case .allRefused(_, let problem): problem
        case .wrongClock: "this machine's clock is wrong: the service reports fresh credentials as expired"
        case .transportShutDown: "the transport has been shut down"
        case .outbox(let error): error.description
        }
    }
}
