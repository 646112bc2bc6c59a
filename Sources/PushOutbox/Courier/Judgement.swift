import PushSender
import SealedPush

/// What an answer means: for the entry, and for the courier.
struct Judgement: Sendable, Equatable {
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

    init(_ answer: PushAnswer, attempts: Int, delays: RetryDelays, unknownAttempts: Int) {
        switch answer {
        case .accepted: self.init(.accepted)
        case .refused(let refusal):
            self.init(refusal, attempts: attempts, delays: delays, unknownAttempts: unknownAttempts)
        }
    }

    private init(_ refusal: PushRefusal, attempts: Int, delays: RetryDelays, unknownAttempts: Int) {
        switch refusal.advice {
        case .drop:
            guard refusal.status == 410, let since = refusal.timestamp else {
                self.init(.tokenRefused(reason: refusal.name))
                return
            }
            self.init(
                .tokenGone(
                    reason: refusal.name, since: since, otherwise: delays.afterTooManyRequests(attempts: attempts)))
        // About one app of several, perhaps: the others go on. Many in a row end the run.
        case .fixKeys where refusal.reason == "TopicDisallowed":
            self.init(.later(delays.afterServerError(attempts: attempts)))
        case .wait: self.init(waiting: refusal, attempts: attempts, delays: delays)
        case .change: self.init(.dead(reason: refusal.name))
        case .fixKeys:
            self.init(.returned, stop: .providerRefused(status: refusal.status, reason: refusal.reason))
        case .unknown:
            let isLast = attempts >= unknownAttempts
            self.init(
                isLast ? .dead(reason: refusal.name) : .later(delays.afterServerError(attempts: attempts)))
        }
    }

    private init(waiting refusal: PushRefusal, attempts: Int, delays: RetryDelays) {
        switch refusal.reason {
        case "TooManyRequests": self.init(.later(delays.afterTooManyRequests(attempts: attempts)))
        case "TooManyProviderTokenUpdates":
            self.init(.later(delays.providerToken), pause: delays.providerToken)
        // About the connection or its token, and so not about this push: another one helps.
        case "IdleTimeout", "Shutdown", "ExpiredProviderToken", "UnrelatedKeyIdInToken":
            self.init(.later(delays.afterConnectionFailure(attempts: attempts)))
        default:
            self.init(
                .later(
                    refusal.status == 429
                        ? delays.afterTooManyRequests(attempts: attempts)
                        : delays.afterServerError(attempts: attempts)))
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

extension PushRefusal {
    /// For reports and dead letters.
    var name: String { reason ?? "status \(status)" }
}

extension PushTransportError {
    /// The transport's own text, where there is one.
    var words: String? {
        switch self {
        case .unreachable(let words), .connectionLost(let words): words
        case .timedOut, .overloaded, .shuttingDown, .wrongClock, .cancelled: nil
        }
    }

    /// For reports: without the transport's own text.
    var name: String {
        switch self {
        case .unreachable: "unreachable"
        case .connectionLost: "connection-lost"
        case .timedOut: "timed-out"
        case .overloaded: "overloaded"
        case .shuttingDown: "shutting-down"
        case .wrongClock: "wrong-clock"
        case .cancelled: "cancelled"
        }
    }
}
