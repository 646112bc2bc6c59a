internal import NIOCore

/// How a connection has behaved, as its lane sees it ten times a second.
struct ConnectionHealth {
    private var readyAt: NIODeadline = .uptimeNanoseconds(0)
    private var allowedAt: NIODeadline = .uptimeNanoseconds(0)
    private var answeredAt: NIODeadline = .uptimeNanoseconds(0)
    private var hasAnswered = false
    private var isSettled = false
    /// Whether its end has been reported to the lane.
    var isRetired = false
    /// Whether it ends because we are done with it.
    var isEndedByUs = false
    /// Whether the peer's wish for fewer of us has been noted.
    var isSlowedDown = false

    mutating func becameReady(now: NIODeadline) {
        readyAt = now
        allowedAt = now
        answeredAt = now
    }

    mutating func answered() { hasAnswered = true }

    mutating func look(now: NIODeadline, owesAnswer: Bool, streamLimit: Int) {
        if streamLimit > 0 { allowedAt = now }
        if hasAnswered || !owesAnswer { answeredAt = now }
        hasAnswered = false
    }

    /// How long it has owed answers without giving one.
    func silence(now: NIODeadline) -> TimeAmount { now - answeredAt }

    /// How long it has allowed no streams.
    func refusal(now: NIODeadline) -> TimeAmount { now - allowedAt }

    /// Whether it has worked for a while.
    func hasLasted(now: NIODeadline, hasSucceeded: Bool) -> Bool { hasSucceeded && now - readyAt >= Self.settlingTime }

    /// True once, when it has worked for a while.
    mutating func settles(now: NIODeadline, hasSucceeded: Bool) -> Bool {
        guard !isSettled, hasLasted(now: now, hasSucceeded: hasSucceeded) else { return false }
        isSettled = true
        return true
    }

    private static let settlingTime: TimeAmount = .seconds(10)
}
