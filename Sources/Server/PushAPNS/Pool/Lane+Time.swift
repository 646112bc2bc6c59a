internal import NIOCore
internal import PushSender

/// What a look at the clock brings, ten times a second.
extension Lane {
    func tick(now: NIODeadline) {
        expireWaiting(now: now)
        for connection in connections {
            connection.tick(now: now)
            look(at: connection, now: now)
        }
        dispatch(now: now)
        grow(now: now)
    }

    private func expireWaiting(now: NIODeadline) {
        while let first = waiting.first, first.isFinished || first.deadline <= now {
            waiting.removeFirst()
            dispatcher.finish(first, .failure(.unreachable(problem)))
        }
    }

    /// Lets go of those whose callers wait no more, wherever they stand.
    func dropFinished() { waiting.removeAll { $0.isFinished } }

    /// Gives up a connection that is of no use to what waits.
    private func look(at connection: APNSConnection, now: NIODeadline) {
        guard connection.phase == .ready else { return }
        connection.health.look(
            now: now, owesAnswer: !connection.streams.isEmpty, streamLimit: connection.peerStreamLimit)
        if connection.health.settles(now: now, hasSucceeded: connection.hasSucceeded) { backoff.succeeded() }
        if connection.health.refusal(now: now) >= deadlines.connect {
            connection.retire(because: "the server allows no streams")
        } else if !waiting.isEmpty, !connection.hasSucceeded || connection.isFull,
            connection.health.silence(now: now) >= deadlines.firstAnswer
        {
            connection.retire(because: "no answer within \(deadlines.firstAnswer.nanoseconds / 1_000_000) ms")
        }
    }
}
