internal import NIOCore
internal import SealedPush

/// The provider token that all connections share, and the rules of its renewal. Confined to the event loop.
///
/// A token is renewed when it is 50 minutes old, and never within 20 minutes of the one before: Apple refuses older and
/// more frequent ones. Source: Apple, "Establishing a token-based connection to APNs".
final class TokenSource {
    static let renewalAge: TimeAmount = .minutes(50)
    static let shortestAge: TimeAmount = .minutes(20)

    private let clock: TransportClock
    /// Starts signing; the answer comes to `signed`.
    private let startSigning: (Timestamp) -> Void
    private var token: ProviderToken?
    private var signing: (issuedAt: Timestamp, startedAt: NIODeadline)?
    private var lastIssued: NIODeadline?
    private var isExpired = false
    private var stoppedUntil: NIODeadline?

    init(clock: TransportClock, startSigning: @escaping (Timestamp) -> Void) {
        self.clock = clock
        self.startSigning = startSigning
    }

    enum Current {
        case ready(ProviderToken)
        /// It is being signed, or may not be yet.
        case waiting
        /// The clock was found to be wrong.
        case wrongClock
    }

    /// The token to send with; starts a renewal where one is due.
    func current(now: NIODeadline) -> Current {
        if let stoppedUntil {
            guard now >= stoppedUntil else { return .wrongClock }
            self.stoppedUntil = nil
            isExpired = true
        }
        guard let token, !isExpired else {
            renewIfAllowed(now: now)
            return .waiting
        }
        if token.isDue(now: now, wall: clock.wall) { renewIfAllowed(now: now) }
        return .ready(token)
    }

    /// Whether a new token may be had now, or one is on its way.
    private func renewIfAllowed(now: NIODeadline) {
        guard signing == nil else { return }
        if let lastIssued, now - lastIssued < Self.shortestAge { return }
        let issuedAt = clock.wall()
        signing = (issuedAt, now)
        startSigning(issuedAt)
    }

    /// Whether there is one to send with, however old.
    var hasToken: Bool { token != nil && !isExpired }

    /// Takes the signed token; nil where signing failed.
    func signed(_ text: String?) {
        guard let signing else { return }
        self.signing = nil
        guard let text else { return }
        lastIssued = signing.startedAt
        isExpired = false
        token = ProviderToken(
            authorization: "bearer " + text, generation: (token?.generation ?? 0) + 1, issuedAt: signing.issuedAt,
            startedAt: signing.startedAt)
    }

    enum Expiry { case renewed, wrongClock }

    /// APNs called the token of `generation` expired.
    func expired(generation: Int, now: NIODeadline) -> Expiry {
        guard let token, token.generation == generation, !isExpired else { return .renewed }
        let age = now - token.startedAt
        guard age >= Self.shortestAge else {
            stoppedUntil = token.startedAt + Self.shortestAge
            return .wrongClock
        }
        isExpired = true
        return .renewed
    }

    /// APNs counts too many tokens: the one in use stays for another 20 minutes.
    func tooManyUpdates(now: NIODeadline) { lastIssued = now }
}

/// A signed token, ready for the header.
struct ProviderToken {
    let authorization: String
    /// Counts up with each renewal.
    let generation: Int
    let issuedAt: Timestamp
    let startedAt: NIODeadline

    /// By either clock: one of them may have stood still or been set.
    func isDue(now: NIODeadline, wall: () -> Timestamp) -> Bool {
        if now - startedAt >= TokenSource.renewalAge { return true }
        // Once a second is enough to ask the system for the time of day.
        let seconds = wall().seconds(since: issuedAt)
        return seconds >= TokenSource.renewalAge.nanoseconds / 1_000_000_000 || seconds < -60
    }
}
