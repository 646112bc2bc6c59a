internal import PushSender

/// How a courier works.
public struct CourierLimits: Hashable, Sendable {
    /// Pushes on their way at once: what the transport can hold without queueing. One takes some kilobytes.
    public var inFlightCount: Int
    /// How long a push is this courier's before another may send it: longer than the transport waits for an answer. It is
    /// extended while an answer is out.
    public var lease: Duration
    /// How often the file is looked into while nothing is due: other processes enqueue, too.
    public var pollInterval: Duration
    /// How many refusals in a row whose reason may concern all pushes, without one that is taken, end the run: then the
    /// environment, the key or the app is wrong, and not each address. Where the carrier has taken pushes of the outbox
    /// before, only addresses count that it has taken one for.
    package var refusedInARow = 100
    /// What each delay of ours is multiplied by: less than 1 where nobody can wait, as in a rehearsal.
    package var delayFactor = 1.0

    public init(
        inFlightCount: Int = 1_000, lease: Duration = .seconds(120), pollInterval: Duration = .milliseconds(250)
    ) {
        precondition(inFlightCount > 0, "a courier has one push on its way at least")
        precondition(lease > .zero && lease <= .seconds(3_600), "a lease lasts one hour at most")
        self.inFlightCount = inFlightCount
        self.lease = lease
        self.pollInterval = pollInterval
    }
}

extension Courier {
    /// When a courier is done.
    public enum Goal: Hashable, Sendable {
        /// Never: it goes on until it is stopped.
        case stopped
        /// When nothing is on its way, and nothing will be due for that long; what is put off further stays.
        case nothingDue(within: Duration)
        /// When nothing waits any more.
        case empty
    }
}

/// What a courier has done so far.
public struct CourierReport: Hashable, Sendable {
    /// Pushes that the service has taken.
    public internal(set) var acceptedCount = 0
    /// How long those had waited since they were enqueued.
    public internal(set) var waits = WaitingTimes()
    /// How often a push was put off, by reason: the service's words, or `unreachable`, `connection-lost`, `timed-out`.
    public internal(set) var retries: [String: Int] = [:]
    /// Refusals that say a device is gone, by the service's reason. What waited for it is dropped, unless the app has
    /// registered the address since.
    public internal(set) var dropped: [String: Int] = [:]
    /// Refusals that made dead letters, by the service's reason: of one push, or of all that wait for a device.
    public internal(set) var dead: [String: Int] = [:]
    /// Why the latest request that got no answer failed, in the transport's words; public names only.
    public internal(set) var latestFailure: String?
    /// Pushes that are on their way at this moment.
    public internal(set) var inFlightCount = 0

    /// - Parameter waited: milliseconds.
    mutating func add(_ settlement: Settlement, name: String, waited: Int64?) {
        switch settlement {
        case .accepted:
            acceptedCount += 1
            if let waited { waits.add(.milliseconds(max(0, waited))) }
        // A request that this host ended itself says nothing about the service.
        case .later, .returned: if name != PushTransportError.cancelled.name { retries[name, default: 0] += 1 }
        case .addressGone: dropped[name, default: 0] += 1
        case .dead, .addressRefused: dead[name, default: 0] += 1
        }
    }

    /// Requests that got an answer, or failed to.
    public var attemptCount: Int { acceptedCount + [retries, dropped, dead].reduce(0) { $0 + $1.values.reduce(0, +) } }
}

/// Times by their length, as a histogram: on the way from `enqueue` to the service's answer, by this host's clock.
public struct WaitingTimes: Hashable, Sendable {
    /// How many were no longer than each of ``bounds``.
    public private(set) var counts = [Int](repeating: 0, count: bounds.count)
    /// All of them.
    public private(set) var count = 0
    /// The sum of all.
    public private(set) var sum = Duration.zero

    /// From 10 ms to a day.
    public static let bounds: [Duration] =
        [10, 50, 100, 500].map { .milliseconds($0) }
        + [1, 5, 30, 60, 300, 900, 3_600, 21_600, 86_400].map { .seconds($0) }

    private static let longest = Duration.seconds(30 * 86_400)

    mutating func add(_ time: Duration) {
        count += 1
        // A damaged database may say any time.
        sum += min(time, Self.longest)
        for (index, bound) in Self.bounds.enumerated() where time <= bound { counts[index] += 1 }
    }
}

/// Why a courier has stopped before its time. Whatever it had not delivered still waits.
public enum CourierError: Error, Equatable, Sendable {
    /// The service refuses the sender, its key or the app, and the transport says why: no push can be delivered until an
    /// operator has corrected it.
    case senderRefused(reason: String, problem: String?)
    /// One push after another was refused for a reason that may concern all, and none was taken. The addresses that were
    /// refused first are disabled; `Outbox.retry(reason:)` takes that back.
    case allRefused(reason: String, problem: String)
    /// This machine's clock is wrong: the service calls fresh credentials expired.
    case wrongClock
    /// The transport has been shut down.
    case transportShutDown
    case outbox(OutboxError)
}

extension CourierError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .senderRefused(let reason, let problem): problem ?? "the service refuses this sender (\(reason))"
        case .allRefused(_, let problem): problem
        case .wrongClock: "this machine's clock is wrong: the service calls fresh credentials expired"
        case .transportShutDown: "the transport has been shut down"
        case .outbox(let error): error.description
        }
    }
}
