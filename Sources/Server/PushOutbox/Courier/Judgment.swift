import PushSender
import SealedPush

/// What an outcome means: for the entry, and for the courier.
struct Judgment: Sendable, Equatable {
    var settlement: Settlement
    /// Set where nothing at all should be sent for a while.
    var pause: Duration?
    /// Set where nothing more should be sent at all.
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
        case .refused(let reason): self.init(.addressRefused(reason: reason.name))
        case .later(.doubtful, let reason) where attempts >= Self.unknownAttempts: self.init(.dead(reason: reason.name))
        case .later(let delay, _): self.init(delay, attempts: attempts, delays: delays)
        case .change(let reason): self.init(.dead(reason: reason.name))
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
        case .cancelled: self.init(.later(.zero))
        case .shuttingDown: self.init(.returned, stop: .transportShutDown)
        case .wrongClock: self.init(.returned, stop: .wrongClock)
        }
    }

    /// How often a push is tried that is refused for a reason which its transport does not know.
    private static let unknownAttempts = 3
}

/// How long a push waits before it is sent again: as long as Apple says, where it says something. A delay that a
/// service asks for itself is kept.
///
/// Each but `everything` doubles with every attempt, up to its limit; a tenth is added or taken off by chance, so that
/// what failed together does not come back together. Source: Apple, "Handling notification responses from APNs".
struct RetryDelays: Sendable {
    var factor = 1.0

    /// The service has trouble, or gives a reason that the transport does not know: up to four hours.
    func afterServerError(attempts: Int) -> Duration { grown(.seconds(900), by: attempts, limit: 16) }

    /// One device gets too many: for that one, up to an hour.
    func afterTooMany(attempts: Int) -> Duration { grown(.seconds(60), by: attempts, limit: 60) }

    /// A connection failed or was closed, or no answer came: up to five minutes.
    func afterConnectionFailure(attempts: Int) -> Duration { grown(.seconds(1), by: attempts, limit: 300) }

    /// All pushes have to wait.
    var everything: Duration { .seconds(1_200) * factor }

    /// Less than a day: what is noted as due further ahead was noted before the clock was set back.
    func asAsked(_ time: Duration) -> Duration { min(max(time, .zero), .seconds(23 * 3_600)) }

    /// Doubled for each attempt but the first, up to `limit` times, and a tenth by chance.
    private func grown(_ delay: Duration, by attempts: Int, limit: Int) -> Duration {
        let growth = min(1 << min(max(attempts - 1, 0), 16), limit)
        return delay * (factor * Double(growth) * Double.random(in: 0.9...1.1))
    }
}

extension Result<PushOutcome, PushTransportError> {
    /// For reports.
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
        case .success, .failure(.overloaded), .failure(.shuttingDown), .failure(.wrongClock), .failure(.cancelled):
            false
        }
    }
}

extension PushTransportError {
    /// The transport's own text, where there is one.
    var words: String? {
        switch self {
        case .unreachable(let words), .connectionLost(let words): words
        case .timedOut, .overloaded, .shuttingDown, .wrongClock, .cancelled: nil
        }
    }
}

/// Tells refusals of addresses from a mistake that concerns them all.
///
/// Where one push after another is refused for what may concern all, and none is taken, it is not the addresses: the
/// wrong environment, the wrong app. The run ends before all of them are disabled.
///
/// Addresses are what phones say. Once the carrier has taken pushes, one that it never took any for says nothing of
/// all: else whoever may register devices could end the delivery for everybody.
struct Refusals {
    /// Whether the carrier has taken a push of this outbox before: then environment, app and key are right.
    var isEstablished = false
    private let limit: Int
    /// Since the last push that was taken.
    private var count = 0

    init(endingAt limit: Int) { self.limit = limit }

    /// Why the run ends, if it does; then the push was not refused for its own sake.
    mutating func add(_ result: Result<PushOutcome, PushTransportError>, isProven: Bool) -> CourierError? {
        guard case .success(let outcome) = result else { return nil }
        switch outcome {
        case .accepted:
            count = 0
            isEstablished = true
            return nil
        case .gone, .stop: return nil
        case .refused(let reason), .later(_, let reason), .change(let reason):
            guard let problem = reason.problem, isProven || !isEstablished else { return nil }
            count += 1
            return count >= limit ? .allRefused(reason: reason.name, problem: problem) : nil
        }
    }
}
