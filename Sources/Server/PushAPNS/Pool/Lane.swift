internal import NIOCore
internal import PushSender
internal import SealedPush

/// A queue of pushes and the connections that take them. Confined to the event loop.
///
/// There are two: one for device tokens that APNs has accepted a push for, one for the others. APNs throttles a connection
/// on which it has to refuse pushes, and so the others do not pay for the refused ones.
final class Lane {
    enum Kind: String { case proven, unproven }

    let kind: Kind
    let dispatcher: Dispatcher
    private let connectionLimit: Int
    var waiting = CircularBuffer<Delivery>()
    var connections: [APNSConnection] = []
    var backoff: Backoff
    /// Why the last connection that we did not end ourselves ended; nil once another is ready.
    var lastProblem: String?
    /// What there is to wait for before a provider token is there; nil while there is one.
    private var tokenWait: TokenSource.Wait?
    private(set) var fullSince: NIODeadline?

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
            // Sending may retire it: its stream IDs end.
            while connection.freeStreamCount > 0, let delivery = nextToSend(now: now, today: today) {
                connection.send(delivery, token: token)
                // One at a time where the load is to be spread.
                if connections.count > 1 { break }
            }
            if waiting.isEmpty { break }
        }
        for connection in connections { connection.flush() }
    }

    /// The next push that is still worth sending; those before it get their errors. After a stall there may be many.
    private func nextToSend(now: NIODeadline, today: Timestamp) -> Delivery? {
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

    /// Why what waits is not sent.
    var problem: String { tokenWait?.rawValue ?? lastProblem ?? "no free stream in time" }

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
    func grow(now: NIODeadline) {
        let live = connections.filter { $0.isLive }
        guard !waiting.isEmpty, !live.isEmpty, live.count < connectionLimit, live.allSatisfy({ $0.isFull }) else {
            fullSince = nil
            return
        }
        let since = fullSince ?? now
        fullSince = since
        if now - since >= dispatcher.deadlines.full { open(now: now) }
    }

    // MARK: Ending

    func failWaiting(_ error: PushTransportError) {
        while let delivery = waiting.popFirst() { dispatcher.finish(delivery, .failure(error)) }
    }

    /// The next push goes over new connections.
    func retireAll(because reason: String) {
        for connection in connections where connection.phase == .ready {
            connection.retire(because: reason, isOurs: true)
        }
    }

    /// Closes all connections; nothing waits any more.
    func close() {
        for connection in connections { connection.retire(because: "shutting down", isOurs: true) }
    }

    func closeNow() {
        failWaiting(.shuttingDown)
        for connection in connections { connection.close(because: "shutting down") }
    }
}

extension Lane {
    var eventLoop: any EventLoop { dispatcher.eventLoop }
    var clock: TransportClock { dispatcher.clock }
    var deadlines: DeadlineAmounts { dispatcher.deadlines }
    var endpoint: APNSEndpoint { dispatcher.endpoint }
    var tls: TLSClient { dispatcher.tls }
    var log: TransportLog { dispatcher.log }
}
