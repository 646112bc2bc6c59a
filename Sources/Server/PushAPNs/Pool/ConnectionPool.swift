internal import NIOCore
internal import PushSender
internal import SealedPush

/// A queue of pushes, and the connections that send them. Confined to the event loop. There are two pools: one for device
/// tokens that APNs has accepted a push for, and one for all others. APNs throttles a connection on which it refuses
/// pushes, so refused pushes must not slow down the proven tokens.
final class ConnectionPool {
    enum Kind: String { case proven, unproven }

    let kind: Kind
    let dispatcher: Dispatcher
    private let connectionLimit: Int
    var waiting = CircularBuffer<PendingPush>()
    var connections: [APNsConnection] = []
    var backoff: Backoff
    /// Why the peer or the network last ended a connection, or nil once another is ready.
    var lastProblem: String?
    /// The reason that there's no provider token, or nil if there is one.
    private var tokenWait: TokenSource.Wait?
    private(set) var fullSince: NIODeadline?

    init(_ kind: Kind, connectionLimit: Int, dispatcher: Dispatcher) {
        self.kind = kind
        self.connectionLimit = max(1, connectionLimit)
        self.dispatcher = dispatcher
        backoff = Backoff(first: dispatcher.deadlines.firstBackoff, longest: dispatcher.deadlines.longestBackoff)
    }

    func append(_ delivery: PendingPush) { waiting.append(delivery) }

    /// Assigns waiting pushes to free streams, and opens a connection if there's none.
    func dispatch(now: NIODeadline) {
        guard !waiting.isEmpty else { return }
        tokenWait = nil
        switch dispatcher.tokens.current(now: now) {
        case .wrongClock: failWaiting(.wrongClock)
        case .waiting(let wait):
            tokenWait = wait
            openIfNone(now: now)
        case .ready(let token):
            fillStreams(token, now: now)
            openIfNone(now: now)
        }
        dispatcher.note(tokenWait)
    }

    private func fillStreams(_ token: ProviderToken, now: NIODeadline) {
        let today = clock.wall()
        while let connection = roomiestConnection() {
            // Sending may retire the connection when its stream IDs run out.
            while connection.state.freeStreamCount > 0, let delivery = nextToSend(now: now, today: today) {
                connection.send(delivery, token: token)
                // Send one at a time to spread the load.
                if connections.count > 1 { break }
            }
            if waiting.isEmpty { break }
        }
        for connection in connections { connection.flush() }
    }

    /// Returns the next push that is still worth sending, and fails stale ones before it. After a stall, there may be many.
    private func nextToSend(now: NIODeadline, today: Timestamp) -> PendingPush? {
        while let delivery = waiting.popFirst() {
            if delivery.isFinished { continue }
            if delivery.deadline <= now {
                dispatcher.finish(delivery, .failure(.unreachable(problem)))
            } else if delivery.isStale(today) {
                dispatcher.finish(delivery, .failure(.unreachable("it expired before it could be sent")))
            } else {
                return delivery
            }
        }
        return nil
    }

    private func roomiestConnection() -> APNsConnection? {
        var best: APNsConnection?
        for connection in connections {
            if connection.state.freeStreamCount > best?.state.freeStreamCount ?? 0 { best = connection }
        }
        return best
    }

    /// The reason that pushes are waiting.
    var problem: String { tokenWait?.rawValue ?? lastProblem ?? "no free stream in time" }

    private func openIfNone(now: NIODeadline) {
        guard !waiting.isEmpty, !connections.contains(where: { $0.state.isLive }) else { return }
        open(now: now)
    }

    private func open(now: NIODeadline) {
        guard backoff.allows(now), !dispatcher.isClosed else { return }
        fullSince = nil
        let connection = APNsConnection(number: dispatcher.nextConnectionNumber(), pool: self, now: now)
        connections.append(connection)
        connection.open()
    }

    /// Opens another connection when all have been full for a while.
    func grow(now: NIODeadline) {
        let live = connections.filter { $0.state.isLive }
        guard !waiting.isEmpty, !live.isEmpty, live.count < connectionLimit, live.allSatisfy({ $0.state.isFull }) else {
            fullSince = nil
            return
        }
        let since = fullSince ?? now
        fullSince = since
        if now - since >= dispatcher.deadlines.full { open(now: now) }
    }

    func failWaiting(_ error: PushTransportError) {
        while let delivery = waiting.popFirst() { dispatcher.finish(delivery, .failure(error)) }
    }

    /// Retires all connections, so that the next push uses a new one.
    func retireAll(because reason: String) {
        for connection in connections where connection.state.phase == .ready {
            connection.retire(because: reason, isOurs: true)
        }
    }

    func close() { for connection in connections { connection.retire(because: "shutting down", isOurs: true) } }

    func closeNow() {
        failWaiting(.shuttingDown)
        for connection in connections { connection.close(because: "shutting down") }
    }
}

extension ConnectionPool {
    var eventLoop: any EventLoop { dispatcher.eventLoop }
    var clock: TransportClock { dispatcher.clock }
    var deadlines: DeadlineAmounts { dispatcher.deadlines }
    var endpoint: APNsEndpoint { dispatcher.endpoint }
    var proxy: APNsEndpoint? { dispatcher.proxy }
    var tls: TLSClient { dispatcher.tls }
    var observer: TransportObserver { dispatcher.observer }
}

/// Time-based checks, ten times a second.
extension ConnectionPool {
    func tick(now: NIODeadline) {
        expireWaiting(now: now)
        for connection in connections { connection.tick(now: now) }
        dispatch(now: now)
        grow(now: now)
    }

    private func expireWaiting(now: NIODeadline) {
        while let first = waiting.first, first.isFinished || first.deadline <= now {
            waiting.removeFirst()
            dispatcher.finish(first, .failure(.unreachable(problem)))
        }
    }

    /// Removes pushes whose callers no longer wait, anywhere in the queue.
    func dropFinished() { waiting.removeAll { $0.isFinished } }
}

/// Events from connections.
extension ConnectionPool {
    func connectionIsReady(_ connection: APNsConnection) {
        lastProblem = nil
        observer.opened(connection: connection.number, pool: kind, streamLimit: connection.state.peerStreamLimit)
    }

    /// Allows another connection to be opened. The next must wait, unless we ended this one ourselves.
    func connectionRetired(_ connection: APNsConnection, isOurs: Bool) {
        guard !connection.isRetired else { return }
        connection.isRetired = true
        connection.isEndedByUs = isOurs
        guard !isOurs else { return }
        let now = clock.now()
        if connection.state.hasLasted(at: now) {
            backoff.rest(now: now, chance: clock.chance())
        } else {
            backoff.failed(now: now, chance: clock.chance())
        }
    }

    /// Slows down at the peer's request, in a response or at the connection's end. This counts once per connection.
    func slowDown(_ connection: APNsConnection, because reason: APNsReason?) {
        guard !connection.isSlowedDown else { return }
        connection.isSlowedDown = true
        connection.isRetired = true
        let now = clock.now()
        let isAboutTokens = reason == .tooManyProviderTokenUpdates
        if isAboutTokens { dispatcher.tokens.tooManyUpdates(now: now) }
        // Experience shows that such a connection stays unusable for a while.
        backoff.failed(
            now: now, chance: clock.chance(), atLeast: isAboutTokens ? Self.tokenUpdateBackoff : Self.calmBackoff)
    }

    /// `wasOfUse` says whether the peer ever allowed a push on the connection.
    func connectionEnded(_ connection: APNsConnection, reason: String, wasOfUse: Bool) {
        connections.removeAll { $0 === connection }
        observer.closed(connection: connection.number, pool: kind, reason: reason)
        connectionRetired(connection, isOurs: false)
        if !connection.isEndedByUs { lastProblem = reason }
        if !wasOfUse, backoff.failureCount >= Self.patientFailureCount,
            !connections.contains(where: { $0.state.phase == .ready })
        {
            failWaiting(.unreachable(reason))
        }
        dispatch(now: clock.now())
        dispatcher.endIfDrained()
    }

    /// After this many failed connections in a row, waiting pushes fail, unless another connection works.
    private static let patientFailureCount = 3
    private static let calmBackoff: TimeAmount = .seconds(5)
    private static let tokenUpdateBackoff: TimeAmount = .seconds(60)
}

/// Results of pushes.
extension ConnectionPool {
    /// Handles a connection that failed before the whole response arrived. A partial response still counts.
    func lost(_ delivery: PendingPush, _ answer: APNsAnswer?, because reason: String, surelyUnsent: Bool) {
        if surelyUnsent, answer == nil { return sendAgain(delivery, because: reason) }
        end(delivery, answer, .connectionLost(reason))
    }

    /// Fails a push, unless enough of a response has arrived.
    func end(_ delivery: PendingPush, _ answer: APNsAnswer?, _ failure: PushTransportError) {
        guard let answer else { return dispatcher.finish(delivery, .failure(failure)) }
        note(answer, to: delivery)
        dispatcher.finish(delivery, .success(answer))
    }

    private func sendAgain(_ delivery: PendingPush, because reason: String) {
        guard !delivery.isFinished else { return }
        if delivery.attemptCount < Self.attemptLimit {
            waiting.prepend(delivery)
        } else {
            dispatcher.finish(delivery, .failure(.unreachable("not processed \(Self.attemptLimit) times: \(reason)")))
        }
    }

    func answered(_ delivery: PendingPush, _ answer: APNsAnswer, on connection: APNsConnection) {
        note(answer, to: delivery)
        if case .refused(let refusal) = answer, let reason = refusal.reason, let meaning = reason.meaning {
            switch meaning.connection {
            case .stays: break
            case .closes: connection.retire(because: reason.rawValue)
            case .slowsDown:
                slowDown(connection, because: reason)
                connection.retire(because: reason.rawValue)
            case .renewsToken: return tokenExpired(delivery, because: reason.rawValue, on: connection)
            }
        }
        dispatcher.finish(delivery, .success(answer))
    }

    private func note(_ answer: APNsAnswer, to delivery: PendingPush) {
        switch answer {
        case .accepted: if kind == .unproven { dispatcher.proven.insert(delivery.fingerprint) }
        case .refused(let refusal):
            if refusal.advice == .drop { dispatcher.proven.remove(delivery.fingerprint) }
            observer.refused(delivery.request, refusal)
        }
    }

    private func tokenExpired(_ delivery: PendingPush, because reason: String, on connection: APNsConnection) {
        switch dispatcher.tokens.expired(generation: delivery.tokenGeneration, now: clock.now()) {
        case .renewed:
            connection.retire(because: reason, isOurs: true)
            sendAgain(delivery, because: reason)
        case .wrongClock(let isNew):
            if isNew { observer.wrongClock() }
            dispatcher.finish(delivery, .failure(.wrongClock))
        }
    }

    private static let attemptLimit = 3
}

/// The delay before the next connection. It doubles with each failure; half is random, to spread many servers' attempts.
struct Backoff {
    let first: TimeAmount
    let longest: TimeAmount
    private(set) var failureCount = 0
    private(set) var until: NIODeadline?

    func allows(_ now: NIODeadline) -> Bool { until.map { now >= $0 } ?? true }

    /// `chance` is a random number from 0 up to 1. `shortest` is the delay that the peer asked for.
    mutating func failed(now: NIODeadline, chance: Double, atLeast shortest: TimeAmount = .zero) {
        let doublings = min(failureCount, 20)
        failureCount += 1
        let full = min(Double(first.nanoseconds) * Double(1 << doublings), Double(longest.nanoseconds))
        let jittered = full / 2 + full / 2 * chance
        until = now + .nanoseconds(max(Int64(jittered), shortest.nanoseconds))
    }

    /// Sets a short delay, after a connection that had worked for a while.
    mutating func rest(now: NIODeadline, chance: Double) {
        let full = Double(first.nanoseconds)
        until = max(until ?? now, now + .nanoseconds(Int64(full / 2 + full / 2 * chance)))
    }

    mutating func succeeded() {
        failureCount = 0
        until = nil
    }
}
