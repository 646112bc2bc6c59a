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
    /// environment, the key or the app is wrong, and not each address. Where the carrier has taken pushes of the outbox
    /// before, only addresses count that it has taken one for.
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

/// How long a push waits before it is sent again. The defaults are Apple's where Apple says something. One that a
/// service asks for itself is kept.
///
/// Each but `serverError` doubles with every attempt, up to its limit; a tenth is added or taken off by chance, so that what
/// failed together does not come back together. Source: Apple, "Handling notification responses from APNs".
public struct RetryDelays: Hashable, Sendable {
    /// Where the service has trouble, or gives a reason that the transport does not know. Doubles, too, up to four hours.
    public var serverError: Duration
    /// Where one device gets too many, for that one; up to one hour.
    public var device: Duration
    /// Where all pushes have to wait.
    public var everything: Duration
    /// After a connection that failed or was closed, and where no answer came; up to five minutes.
    public var connection: Duration

    public init(
        serverError: Duration = .seconds(900), device: Duration = .seconds(60),
        everything: Duration = .seconds(1_200), connection: Duration = .seconds(1)
    ) {
        self.serverError = serverError
        self.device = device
        self.everything = everything
        self.connection = connection
    }

    /// All of them times a factor, for tests.
    package func scaled(by factor: Double) -> RetryDelays {
        RetryDelays(
            serverError: serverError * factor, device: device * factor, everything: everything * factor,
            connection: connection * factor)
    }
}

extension RetryDelays {
    func afterServerError(attempts: Int) -> Duration { Self.grown(serverError, by: attempts, limit: 16) }
    func afterTooMany(attempts: Int) -> Duration { Self.grown(device, by: attempts, limit: 60) }
    func afterConnectionFailure(attempts: Int) -> Duration { Self.grown(connection, by: attempts, limit: 300) }

    func asAsked(_ time: Duration) -> Duration { min(max(time, .zero), Self.longest) }

    /// What is noted as due further ahead than a day was noted before the clock was set back.
    private static let longest = Duration.seconds(23 * 3_600)

    /// Doubled for each attempt but the first, up to `limit` times, and a tenth by chance.
    private static func grown(_ delay: Duration, by attempts: Int, limit: Int) -> Duration {
        let factor = min(1 << min(max(attempts - 1, 0), 16), limit)
        return min(delay * (Double(factor) * Double.random(in: 0.9...1.1)), longest)
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
        case .later, .returned: retries[name, default: 0] += 1
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
