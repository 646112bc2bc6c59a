internal import NIOCore
internal import PushSender

/// What becomes of a push.
extension Lane {
    /// The connection failed under it, before the end of its answer was there. What there is of an answer counts.
    func lost(_ delivery: Delivery, _ reason: String, surelyUnsent: Bool) {
        delivery.connection = nil
        if let answer = delivery.response.answer {
            note(answer, to: delivery)
            dispatcher.finish(delivery, .success(answer))
        } else if !surelyUnsent {
            dispatcher.finish(delivery, .failure(.connectionLost(reason)))
        } else {
            sendAgain(delivery, because: reason)
        }
    }

    private func sendAgain(_ delivery: Delivery, because reason: String) {
        guard !delivery.isFinished else { return }
        if delivery.attemptCount < Self.attemptLimit {
            waiting.prepend(delivery)
        } else {
            dispatcher.finish(delivery, .failure(.unreachable("not taken \(Self.attemptLimit) times: \(reason)")))
        }
    }

    func timedOut(_ delivery: Delivery, on connection: APNSConnection) {
        if let answer = delivery.response.answer {
            note(answer, to: delivery)
            dispatcher.finish(delivery, .success(answer))
        } else {
            dispatcher.finish(delivery, .failure(.timedOut))
        }
    }

    func answered(_ delivery: Delivery, _ answer: APNSAnswer, on connection: APNSConnection) {
        connection.health.answered()
        note(answer, to: delivery)
        switch answer {
        case .accepted: connection.hasSucceeded = true
        case .refused(let refusal):
            let reason = refusal.reason ?? ""
            switch reason {
            case "ExpiredProviderToken": return tokenExpired(delivery, on: connection)
            case "TooManyProviderTokenUpdates":
                slowDown(connection, because: reason)
                connection.retire(because: reason)
            case "IdleTimeout", "Shutdown", "UnrelatedKeyIdInToken": connection.retire(because: reason)
            default: break
            }
        }
        dispatcher.finish(delivery, .success(answer))
    }

    private func note(_ answer: APNSAnswer, to delivery: Delivery) {
        switch answer {
        case .accepted: if kind == .unproven { dispatcher.proven.insert(delivery.fingerprint) }
        case .refused(let refusal):
            if refusal.advice == .drop { dispatcher.proven.remove(delivery.fingerprint) }
            log.refused(delivery.request, refusal)
        }
    }

    private func tokenExpired(_ delivery: Delivery, on connection: APNSConnection) {
        switch dispatcher.tokens.expired(generation: delivery.tokenGeneration, now: clock.now()) {
        case .renewed:
            connection.retire(because: "ExpiredProviderToken", isOurs: true)
            sendAgain(delivery, because: "ExpiredProviderToken")
        case .wrongClock(let isNew):
            if isNew { log.wrongClock() }
            dispatcher.finish(delivery, .failure(.wrongClock))
        }
    }

    private static let attemptLimit = 3
}
