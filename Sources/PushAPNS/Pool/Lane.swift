internal import NIOCore
internal import PushSender

/// A queue of pushes and the connections that take them. Confined to the event loop.
///
/// There are two: one for device tokens that APNs has accepted a push for, one for the others. APNs throttles a connection
/// on which it has to refuse pushes, and so the others do not pay for the refused ones.
final class Lane {
    enum Kind: String { case proven, unproven }

    let kind: Kind
    let dispatcher: Dispatcher
    private let connectionLimit: Int
    private(set) var waiting = CircularBuffer<Delivery>()
    private(set) var connections: [APNSConnection] = []
    private var backoff: Backoff
    private var lastProblem: String?
    private var fullSince: NIODeadline?

    init(_ kind: Kind, connectionLimit: Int, dispatcher: Dispatcher) {
        self.kind = kind
        self.connectionLimit = max(1, connectionLimit)
        self.dispatcher = dispatcher
        backoff = Backoff(first: dispatcher.deadlines.firstBackoff, longest: dispatcher.deadlines.longestBackoff)
    }

    func append(_ delivery: Delivery) { waiting.append(delivery) }

    /// Gives what waits to free streams, and opens a connection where there is none.
    func dispatch(now: NIODeadline) {
        guard !waiting.isEmpty else { return }
        switch dispatcher.tokens.current(now: now) {
        case .wrongClock: failWaiting(.wrongClock)
        case .waiting: openIfNone(now: now)
        case .ready(let token):
            fillStreams(token, now: now)
            openIfNone(now: now)
        }
    }

    private func fillStreams(_ token: ProviderToken, now: NIODeadline) {
        while let connection = roomiestConnection() {
            var free = connection.freeStreamCount
            // One at a time where the load is to be spread.
            if connections.count > 1 { free = 1 }
            while free > 0, let delivery = waiting.popFirst() {
                if delivery.isFinished { continue }
                connection.send(delivery, token: token)
                free -= 1
            }
            if waiting.isEmpty { break }
        }
        for connection in connections { connection.flush() }
    }

    private func roomiestConnection() -> APNSConnection? {
        var best: APNSConnection?
        for connection in connections where connection.freeStreamCount > 0 {
            guard let rival = best else {
                best = connection
                continue
            }
            if connection.freeStreamCount > rival.freeStreamCount { best = connection }
        }
        return best
    }

    // MARK: Opening

    private func openIfNone(now: NIODeadline) {
        guard !waiting.isEmpty, !connections.contains(where: { $0.isLive }) else { return }
        open(now: now)
    }

    private func open(now: NIODeadline) {
        guard backoff.allows(now), !dispatcher.isClosed else { return }
        fullSince = nil
        let connection = APNSConnection(number: dispatcher.nextConnectionNumber(), lane: self, now: now)
        connections.append(connection)
        connection.open()
    }

    /// Opens another connection when all have been full for a while.
    private func grow(now: NIODeadline) {
        let live = connections.filter { $0.isLive }
        guard !waiting.isEmpty, !live.isEmpty, live.count < connectionLimit, live.allSatisfy({ $0.isFull }) else {
            fullSince = nil
            return
        }
        let since = fullSince ?? now
        fullSince = since
        if now - since >= dispatcher.deadlines.full { open(now: now) }
    }

    // MARK: Time

    func tick(now: NIODeadline) {
        expireWaiting(now: now)
        for connection in connections { connection.tick(now: now) }
        dispatch(now: now)
        grow(now: now)
    }

    private func expireWaiting(now: NIODeadline) {
        while let first = waiting.first, first.isFinished || first.deadline <= now {
            waiting.removeFirst()
            dispatcher.finish(first, .failure(.unreachable(lastProblem ?? "no free stream in time")))
        }
    }

    func failWaiting(_ error: PushTransportError) {
        while let delivery = waiting.popFirst() { dispatcher.finish(delivery, .failure(error)) }
    }

    /// Closes all connections; nothing waits any more.
    func close() { for connection in connections { connection.retire(because: "shutting down") } }

    func closeNow() {
        failWaiting(.shuttingDown)
        for connection in connections { connection.close(because: "shutting down") }
    }

    // MARK: What connections report

    func connectionIsReady(_ connection: APNSConnection) {
        dispatcher.log.opened(connection: connection.number, lane: kind, streamLimit: connection.peerStreamLimit)
    }

    /// It takes no new pushes: another one may be opened.
    func connectionRetired(_ connection: APNSConnection) {
        guard !connection.isRetired else { return }
        connection.isRetired = true
        if !connection.hasSucceeded { noteFailure() }
    }

    func connectionEnded(_ connection: APNSConnection, wasConnecting: Bool, reason: String, lost: [Delivery]) {
        connections.removeAll { $0 === connection }
        dispatcher.log.closed(connection: connection.number, lane: kind, reason: reason)
        lastProblem = reason
        for delivery in lost { self.lost(delivery, reason, surelyUnsent: false) }
        connectionRetired(connection)
        if wasConnecting, backoff.failureCount >= Self.patientFailureCount { failWaiting(.unreachable(reason)) }
        dispatch(now: clock.now())
        dispatcher.endIfDrained()
    }

    private func noteFailure(atLeast shortest: TimeAmount = .zero) {
        backoff.failed(now: clock.now(), chance: clock.chance(), atLeast: shortest)
    }

    // MARK: What becomes of a push

    /// The connection failed under it, before all of its answer was there.
    func lost(_ delivery: Delivery, _ reason: String, surelyUnsent: Bool) {
        delivery.connection = nil
        if delivery.response.isRefusal, let answer = delivery.response.answer {
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
        if delivery.response.isRefusal, let answer = delivery.response.answer {
            dispatcher.finish(delivery, .success(answer))
        } else {
            dispatcher.finish(delivery, .failure(.timedOut))
        }
    }

    func answered(_ delivery: Delivery, _ answer: PushAnswer, on connection: APNSConnection) {
        switch answer {
        case .accepted:
            if !connection.hasSucceeded {
                connection.hasSucceeded = true
                backoff.succeeded()
                lastProblem = nil
            }
            if kind == .unproven { dispatcher.proven.insert(delivery.fingerprint) }
        case .refused(let refusal):
            if refusal.advice == .drop { dispatcher.proven.remove(delivery.fingerprint) }
            dispatcher.log.refused(delivery.request, refusal)
            switch refusal.reason {
            case "ExpiredProviderToken": return tokenExpired(delivery, on: connection)
            case "TooManyProviderTokenUpdates":
                // Observed: the connection stays unusable for a while.
                dispatcher.tokens.tooManyUpdates(now: clock.now())
                connection.isRetired = true
                connection.retire(because: "TooManyProviderTokenUpdates")
                noteFailure(atLeast: Self.tokenUpdateBackoff)
            case "IdleTimeout", "Shutdown", "UnrelatedKeyIdInToken": connection.retire(because: refusal.reason ?? "")
            default: break
            }
        }
        dispatcher.finish(delivery, .success(answer))
    }

    private func tokenExpired(_ delivery: Delivery, on connection: APNSConnection) {
        switch dispatcher.tokens.expired(generation: delivery.tokenGeneration, now: clock.now()) {
        case .renewed:
            connection.isRetired = true
            connection.retire(because: "ExpiredProviderToken")
            sendAgain(delivery, because: "ExpiredProviderToken")
        case .wrongClock:
            dispatcher.log.wrongClock()
            dispatcher.finish(delivery, .failure(.wrongClock))
        }
    }

    /// After so many connections in a row that failed, those who wait are told.
    private static let patientFailureCount = 3
    private static let attemptLimit = 3
    private static let tokenUpdateBackoff: TimeAmount = .seconds(60)
}

extension Lane {
    var eventLoop: any EventLoop { dispatcher.eventLoop }
    var clock: TransportClock { dispatcher.clock }
    var deadlines: DeadlineAmounts { dispatcher.deadlines }
    var endpoint: APNSEndpoint { dispatcher.endpoint }
    var tls: TLSClient { dispatcher.tls }
    var log: TransportLog { dispatcher.log }
}
