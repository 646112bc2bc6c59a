import PushSender
import SealedPush

/// The consequences of an outcome, for the entry and for the courier.
struct Judgment: Sendable, Equatable {
    var settlement: Settlement
    /// Set if all sending should pause for a while.
    var pause: Duration?
    /// Set if all sending should stop.
    var stop: CourierError?

    init(_ settlement: Settlement, pause: Duration? = nil, stop: CourierError? = nil) {
        self.settlement = settlement
        self.pause = pause
        self.stop = stop
    }

    init(_ outcome: PushOutcome, attempts: Int, delays: RetryDelays) {
        switch outcome {
        case .accepted: self.init(.accepted)
        case .gone(let since, let reason):
            self.init(
                .addressGone(reason: reason.name, since: since, otherwise: delays.afterTooMany(attempts: attempts)))
        case .addressRefused(let reason): self.init(.addressRefused(reason: reason.name))
        case .later(.doubtful, let reason) where attempts >= Self.unknownAttempts:
            self.init(.refused(reason: reason.name))
        case .later(let delay, _): self.init(delay, attempts: attempts, delays: delays)
        case .change(let reason): self.init(.refused(reason: reason.name))
        case .stop(let reason): self.init(.returned, stop: .senderRefused(reason: reason.name, problem: reason.problem))
        }
    }

    private init(_ delay: PushDelay, attempts: Int, delays: RetryDelays) {
        switch delay {
        case .connection: self.init(.later(delays.afterConnectionFailure(attempts: attempts)))
        case .device: self.init(.later(delays.afterTooMany(attempts: attempts)))
        case .service, .doubtful: self.init(.later(delays.afterServerError(attempts: attempts)))
        case .everything: self.init(.later(delays.everything), pause: delays.everything)
        case .exactly(let time): self.init(.later(delays.asAsked(time)))
        }
    }

    init(_ error: PushTransportError, attempts: Int, delays: RetryDelays) {
        switch error {
        case .unreachable, .connectionLost, .timedOut:
            self.init(.later(delays.afterConnectionFailure(attempts: attempts)))
        case .overloaded: self.init(.later(delays.afterConnectionFailure(attempts: 1)))
        case .canceled: self.init(.later(.zero))
        case .shuttingDown: self.init(.returned, stop: .transportShutDown)
        case .wrongClock: self.init(.returned, stop: .wrongClock)
        }
    }

    /// The number of attempts for a push that is refused for a reason that its transport doesn't recognize.
    private static let unknownAttempts = 3
}

/// How long a push waits before it is sent again, following Apple's advice if there is any. A service's own delay is
/// honored. Each delay except `everything` doubles with every attempt, up to its limit. Jitter of up to a tenth, either
/// way, spreads pushes that failed together. Source: Apple, "Handling notification responses from APNs".
struct RetryDelays: Sendable {
    var factor = 1.0

    /// The service has a problem, or states a reason that the transport doesn't recognize: up to four hours.
    func afterServerError(attempts: Int) -> Duration { grown(.seconds(900), by: attempts, limit: 16) }

    /// One device receives too many pushes: up to an hour, for that device.
    func afterTooMany(attempts: Int) -> Duration { grown(.seconds(60), by: attempts, limit: 60) }

    /// A connection failed or was closed, or no response arrived: up to five minutes.
    func afterConnectionFailure(attempts: Int) -> Duration { grown(.seconds(1), by: attempts, limit: 300) }

    /// All pushes have to wait.
    var everything: Duration { .seconds(1_200) * factor }

    /// Less than ``DueTimes/longestDelay``.
    func asAsked(_ time: Duration) -> Duration { min(max(time, .zero), .seconds(23 * 3_600)) }

    /// Doubled for each attempt after the first, up to `limit` times, with a jitter of a tenth.
    private func grown(_ delay: Duration, by attempts: Int, limit: Int) -> Duration {
        let growth = min(1 << min(max(attempts - 1, 0), 16), limit)
        return delay * (factor * Double(growth) * Double.random(in: 0.9...1.1))
    }
}

extension PushOutcome {
    /// Returns the outcome of a push that was sent at this time. An address can't be known to be gone since a later time: the app
    /// may have registered it again by then.
    func known(at sent: Timestamp) -> PushOutcome {
        guard case .gone(let since, let reason) = self else { return self }
        return .gone(since: min(since, sent), reason)
    }
}

extension Result<PushOutcome, PushTransportError> {
    /// The name of the result in reports.
    var name: String {
        switch self {
        case .success(let outcome): outcome.reason?.name ?? "accepted"
        case .failure(let error): error.name
        }
    }

    /// Whether the next push will likely fail in the same way.
    var isServersFault: Bool {
        switch self {
        case .success(.later(let delay, let reason)):
            reason.problem == nil && (delay == .service || delay == .connection)
        case .failure(.unreachable), .failure(.connectionLost), .failure(.timedOut): true
        case .success, .failure(.overloaded), .failure(.shuttingDown), .failure(.wrongClock), .failure(.canceled):
            false
        }
    }
}

extension PushTransportError {
    /// The transport's own text, if there is one.
    var words: String? {
        switch self {
        case .unreachable(let words), .connectionLost(let words): words
        case .timedOut, .overloaded, .shuttingDown, .wrongClock, .canceled: nil
        }
    }
}

/// Distinguishes refusals of single addresses from a mistake that affects all of them. If one push after another is refused
/// for a reason that may concern all, and none is accepted, the addresses aren't to blame. The environment or the app is
/// wrong. The run ends before all addresses are disabled.
///
/// Addresses are supplied by phones. Once the carrier has accepted pushes, an address without an accepted push proves
/// nothing about the others. Otherwise, anyone who can register devices could stop delivery for everyone.
struct Refusals {
    /// Whether the carrier has accepted a push from this outbox, showing that the environment, app, and key are right.
    var isEstablished = false
    private let limit: Int
    /// The refusals since the last accepted push.
    private var count = 0

    init(endingAt limit: Int) { self.limit = limit }

    /// Returns the error that ends the run, if any. In that case, the push itself wasn't at fault.
    mutating func add(_ result: Result<PushOutcome, PushTransportError>, isProven: Bool) -> CourierError? {
        guard case .success(let outcome) = result else { return nil }
        switch outcome {
        case .accepted:
            count = 0
            isEstablished = true
            return nil
        case .gone, .stop: return nil
        case .addressRefused(let reason), .later(_, let reason), .change(let reason):
            guard let problem = reason.problem, isProven || !isEstablished else { return nil }
            count += 1
            return count >= limit ? .allRefused(reason: reason.name, problem: problem) : nil
        }
    }
}
