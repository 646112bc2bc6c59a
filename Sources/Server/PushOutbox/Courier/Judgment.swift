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

    init(_ outcome: PushOutcome, attempts: Int, delays: RetryDelays, unknownAttempts: Int) {
        switch outcome {
        case .accepted: self.init(.accepted)
        case .gone(let since, let reason):
            self.init(
                .addressGone(reason: reason.name, since: since, otherwise: delays.afterTooMany(attempts: attempts)))
        case .refused(let reason): self.init(.addressRefused(reason: reason.name))
        case .later(.doubtful, let reason) where attempts >= unknownAttempts: self.init(.dead(reason: reason.name))
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
        case .success: false
        case .failure(let error):
            switch error {
            case .unreachable, .connectionLost, .timedOut: true
            case .overloaded, .shuttingDown, .wrongClock, .cancelled: false
            }
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
