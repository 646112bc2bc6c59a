internal import NIOCore
internal import SealedPush

/// The provider token that all connections share, and the rules for renewing it. Confined to the event loop. A token is
/// renewed after 50 minutes, not used after 58 minutes, and never renewed within 20 minutes of the previous one. Apple
/// rejects older tokens and more frequent renewals. Source: Apple, "Establishing a token-based connection to APNs".
final class TokenSource {
    private let clock: TransportClock
    private let startSigning: (Timestamp) -> Void
    private var token: ProviderToken?
    private var signing: Moment?
    private var lastIssued: Moment?
    private var signingFailed: Moment?
    private var isExpired = false
    /// APNs rejected a new token, because the clock was wrong when it was signed.
    private var isStopped = false

    init(clock: TransportClock, startSigning: @escaping (Timestamp) -> Void) {
        self.clock = clock
        self.startSigning = startSigning
    }

    enum Current {
        case ready(ProviderToken)
        /// The token is being signed, or can't be signed yet.
        case waiting(Wait)
        /// The clock was found to be wrong.
        case wrongClock
    }

    enum Wait: String {
        case signing = "the provider token is being signed"
        case failed = "the provider token could not be signed"
        /// After `TooManyProviderTokenUpdates`.
        case notYet = "the provider token has expired, and APNs doesn't allow a new one yet"
    }

    /// Returns the token to send with, and starts a renewal if one is due.
    func current(now: NIODeadline) -> Current {
        let now = Moment(uptime: now, wall: clock.wall())
        if isStopped { liftStop(now) }
        if isStopped { return .wrongClock }
        guard let token, !isExpired, now.age(since: token.issued) < Self.usableSeconds else {
            return .waiting(renew(now))
        }
        // After the clock was set back, the token would be from the future.
        if now.age(since: token.issued) >= Self.renewalSeconds || now.drift(since: token.issued) < -Self.driftSeconds {
            _ = renew(now)
        }
        return .ready(token)
    }

    /// Starts signing if allowed, and returns the reason to wait.
    private func renew(_ now: Moment) -> Wait {
        guard signing == nil else { return .signing }
        if let lastIssued, now.age(since: lastIssued) < Self.shortestSeconds { return .notYet }
        if let signingFailed, now.age(since: signingFailed) < Self.signingPauseSeconds { return .failed }
        signing = now
        startSigning(now.wall)
        return .signing
    }

    /// Ends a stop after 20 minutes, or at once if the clock was set since the token was signed.
    private func liftStop(_ now: Moment) {
        guard let token else { return }
        if abs(now.drift(since: token.issued)) > Self.driftSeconds {
            lastIssued = nil
        } else if now.age(since: token.issued) < Self.shortestSeconds {
            return
        }
        isStopped = false
        isExpired = true
    }

    enum Signed {
        case failed
        case renewed
        /// Signed within 20 minutes of the previous token, by the monotonic clock. For new connections only.
        case early
    }

    func signed(_ text: String?) -> Signed {
        guard let issued = signing.take() else { return .failed }
        guard let text else {
            signingFailed = issued
            return .failed
        }
        let isEarly = token.map { issued.uptimeSeconds(since: $0.issued) < Self.shortestSeconds } ?? false
        signingFailed = nil
        lastIssued = issued
        isExpired = false
        token = ProviderToken(authorization: "bearer " + text, generation: (token?.generation ?? 0) + 1, issued: issued)
        return isEarly ? .early : .renewed
    }

    enum Expiry {
        case renewed
        /// Whether this is the first refusal of the token.
        case wrongClock(isNew: Bool)
    }

    /// Handles APNs' response that the token of `generation` has expired.
    func expired(generation: Int, now: NIODeadline) -> Expiry {
        guard let token, token.generation == generation, !isExpired else { return .renewed }
        if isStopped { return .wrongClock(isNew: false) }
        let now = Moment(uptime: now, wall: clock.wall())
        let isOld = now.age(since: token.issued) >= Self.shortestSeconds
        let isClockSet = abs(now.drift(since: token.issued)) > Self.driftSeconds
        if isClockSet { lastIssued = nil }
        isStopped = !isOld && !isClockSet
        isExpired = !isStopped
        return isStopped ? .wrongClock(isNew: true) : .renewed
    }

    /// Handles APNs' response that there are too many tokens: keeps the current one for another 20 minutes.
    func tooManyUpdates(now: NIODeadline) { lastIssued = Moment(uptime: now, wall: clock.wall()) }

    private static let renewalSeconds: Int64 = 50 * 60
    /// Two minutes for transit, and for clock differences.
    private static let usableSeconds: Int64 = 58 * 60
    private static let shortestSeconds: Int64 = 20 * 60
    private static let driftSeconds: Int64 = 60
    private static let signingPauseSeconds: Int64 = 1
}
