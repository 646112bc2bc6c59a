internal import NIOCore
internal import PushSender

/// What connections report.
extension Lane {
    func connectionIsReady(_ connection: APNSConnection) {
        connection.health.becameReady(now: clock.now())
        lastProblem = nil
        log.opened(connection: connection.number, lane: kind, streamLimit: connection.peerStreamLimit)
    }

    /// It takes no new pushes: another one may be opened, after a while where it was not we who ended this one.
    func connectionRetired(_ connection: APNSConnection, isOurs: Bool) {
        guard !connection.health.isRetired else { return }
        connection.health.isRetired = true
        connection.health.isEndedByUs = isOurs
        guard !isOurs else { return }
        let now = clock.now()
        if connection.health.hasLasted(now: now, hasSucceeded: connection.hasSucceeded) {
            backoff.rest(now: now, chance: clock.chance())
        } else {
            backoff.failed(now: now, chance: clock.chance())
        }
    }

    /// The peer asks for less of us, in an answer or as it ends the connection: that counts once.
    func slowDown(_ connection: APNSConnection, because reason: String) {
        guard !connection.health.isSlowedDown else { return }
        connection.health.isSlowedDown = true
        connection.health.isRetired = true
        let now = clock.now()
        let isAboutTokens = reason == "TooManyProviderTokenUpdates"
        if isAboutTokens { dispatcher.tokens.tooManyUpdates(now: now) }
        // Observed: such a connection stays unusable for a while.
        backoff.failed(
            now: now, chance: clock.chance(), atLeast: isAboutTokens ? Self.tokenUpdateBackoff : Self.calmBackoff)
    }

    func connectionEnded(_ connection: APNSConnection, wasConnecting: Bool, reason: String, lost: [Delivery]) {
        connections.removeAll { $0 === connection }
        log.closed(connection: connection.number, lane: kind, reason: reason)
        connectionRetired(connection, isOurs: false)
        for delivery in lost { self.lost(delivery, reason, surelyUnsent: false) }
        if !connection.health.isEndedByUs { lastProblem = reason }
        let wasOfUse = !wasConnecting && (connection.hasSucceeded || connection.peerStreamLimit > 0)
        if !wasOfUse, backoff.failureCount >= Self.patientFailureCount,
            !connections.contains(where: { $0.phase == .ready })
        {
            failWaiting(.unreachable(reason))
        }
        dispatch(now: clock.now())
        dispatcher.endIfDrained()
    }

    /// After so many connections in a row that failed, those who wait are told, unless another one works.
    private static let patientFailureCount = 3
    private static let calmBackoff: TimeAmount = .seconds(5)
    private static let tokenUpdateBackoff: TimeAmount = .seconds(60)
}
