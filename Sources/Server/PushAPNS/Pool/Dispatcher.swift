internal import NIOCore
internal import PushCore
internal import PushSender
internal import SealedPush

/// All of a transport behind its public face: the two lanes, the provider token and the clock's ticks.
///
/// Unchecked, because everything mutable in it is confined to the event loop; other threads call only what the first mark
/// below holds.
final class Dispatcher: @unchecked Sendable {
    let eventLoop: any EventLoop
    let executor: EventLoopExecutor
    let clock: TransportClock
    let endpoint: APNSEndpoint
    let deadlines: DeadlineAmounts
    let tls: TLSClient
    let observer: TransportObserver
    let limits: APNSConfiguration.Limits
    private let key: ProviderKey
    private let submissions = Inbox<Submission>()

    var proven: ProvenTokens
    var tokens: TokenSource
    private(set) var lanes: [Lane] = []
    private var ticker: RepeatedTask?
    private var connectionCount = 0
    private var outstandingCount = 0
    private(set) var isShuttingDown = false
    private var hasCancelled = false
    private var isTokenFrozen = false
    private(set) var isClosed = false
    private var shutdownWaiters: [CheckedContinuation<Void, Never>] = []

    init(
        _ configuration: APNSConfiguration, tls: TLSClient, eventLoop: any EventLoop, clock: TransportClock,
        observer: TransportObserver
    ) {
        self.eventLoop = eventLoop
        self.clock = clock
        executor = EventLoopExecutor(eventLoop)
        self.tls = tls
        self.observer = observer
        endpoint = configuration.endpoint
        deadlines = DeadlineAmounts(deadlines: configuration.deadlines)
        limits = configuration.limits
        key = configuration.key
        proven = ProvenTokens(limit: 1_000_000)
        tokens = TokenSource(clock: clock) { _ in }
        tokens = TokenSource(clock: clock) { [unowned self] in startSigning(issuedAt: $0) }
        lanes = [
            Lane(.proven, connectionLimit: limits.connectionCount, dispatcher: self),
            Lane(.unproven, connectionLimit: 1, dispatcher: self),
        ]
    }

    // MARK: From any thread

    func submit(_ entry: Submission) { if submissions.append(entry) { eventLoop.execute { self.drainSubmissions() } } }

    func remember(_ fingerprints: [Int]) {
        eventLoop.execute { for fingerprint in fingerprints { self.proven.insert(fingerprint) } }
    }

    func shutDown() async {
        await withCheckedContinuation { continuation in
            eventLoop.execute {
                self.shutdownWaiters.append(continuation)
                self.isShuttingDown = true
                self.endIfDrained()
            }
        }
    }

    /// Ends at once; for a transport that nobody holds any more.
    func closeNow() {
        eventLoop.execute {
            self.isShuttingDown = true
            self.isClosed = true
            for lane in self.lanes { lane.closeNow() }
            self.endIfDrained()
        }
    }

    // MARK: In the event loop

    private func drainSubmissions() {
        let now = clock.now()
        for entry in submissions.drain() {
            switch entry {
            case .deliver(let delivery): accept(delivery)
            case .cancel(let delivery): cancel(delivery)
            }
        }
        for lane in lanes { lane.dispatch(now: now) }
        startTicking()
    }

    private func accept(_ delivery: Delivery) {
        outstandingCount += 1
        delivery.isAccepted = true
        if delivery.isCancelled { return finish(delivery, .failure(.cancelled)) }
        if isShuttingDown { return finish(delivery, .failure(.shuttingDown)) }
        if waitingCount >= limits.waitingCount { dropFinished() }
        guard waitingCount < limits.waitingCount else { return finish(delivery, .failure(.overloaded)) }
        let isProven = delivery.request.isProven || proven.contains(delivery.fingerprint)
        lanes[isProven ? 0 : 1].append(delivery)
    }

    /// May come before the push itself, which is then refused.
    private func cancel(_ delivery: Delivery) {
        delivery.isCancelled = true
        guard delivery.isAccepted, !delivery.isFinished else { return }
        if let connection = delivery.connection { connection.cancel(delivery) } else { hasCancelled = true }
        finish(delivery, .failure(.cancelled))
    }

    var waitingCount: Int { lanes.reduce(0) { $0 + $1.waiting.count } }

    /// Lets go of cancelled pushes that still stand in a queue.
    private func dropFinished() {
        guard hasCancelled else { return }
        hasCancelled = false
        for lane in lanes { lane.dropFinished() }
    }

    func finish(_ delivery: Delivery, _ outcome: Delivery.Outcome) {
        guard !delivery.isFinished else { return }
        outstandingCount -= 1
        observer.finished(outcome, nanoseconds: (clock.now() - delivery.startedAt).nanoseconds)
        delivery.finish(outcome)
        if isShuttingDown { endIfDrained() }
    }

    func nextConnectionNumber() -> Int {
        connectionCount += 1
        return connectionCount
    }

    private func startSigning(issuedAt: Timestamp) {
        let key = key
        Task {
            let text = try? await key.sign(issuedAt: issuedAt.secondsSince1970)
            eventLoop.execute { self.signed(text) }
        }
    }

    private func signed(_ text: String?) {
        let result = tokens.signed(text)
        observer.tokenRenewed(isSuccess: result != .failed)
        let now = clock.now()
        // Apple counts the tokens of a connection.
        if result == .early { for lane in lanes { lane.retireAll(because: "the clock was set") } }
        for lane in lanes {
            if case .waiting(let wait) = tokens.current(now: now) { lane.failWaiting(.unreachable(wait.rawValue)) }
            lane.dispatch(now: now)
        }
    }

    /// What a lane has to wait for before it has a provider token; nil where it has one.
    func note(_ wait: TokenSource.Wait?) {
        if wait == .notYet, !isTokenFrozen { observer.tokenFrozen() }
        isTokenFrozen = wait == .notYet
    }

    private func startTicking() {
        guard ticker == nil, !isClosed else { return }
        ticker = eventLoop.scheduleRepeatedTask(initialDelay: clock.tick, delay: clock.tick) { _ in self.tick() }
    }

    func tick() {
        let now = clock.now()
        dropFinished()
        for lane in lanes { lane.tick(now: now) }
        let connections = lanes.flatMap { $0.connections }
        // So that the first push after a quiet hour need not wait for it.
        if !connections.isEmpty { _ = tokens.current(now: now) }
        observer.state(
            connectionCount: connections.count, streamCount: connections.reduce(0) { $0 + $1.streams.count },
            waitingCount: waitingCount)
        if connections.isEmpty, outstandingCount == 0 { stopTicking() }
    }

    private func stopTicking() {
        ticker?.cancel()
        ticker = nil
    }

    /// The end of a shutdown, once no push is in flight.
    func endIfDrained() {
        guard isShuttingDown, outstandingCount == 0 else { return }
        for lane in lanes { lane.close() }
        guard lanes.allSatisfy({ $0.connections.isEmpty }) else { return }
        isClosed = true
        stopTicking()
        // Breaks the circle of lanes and dispatcher.
        lanes = []
        for waiter in shutdownWaiters { waiter.resume() }
        shutdownWaiters = []
    }
}

enum Submission: Sendable {
    case deliver(Delivery)
    case cancel(Delivery)
}

/// Carries values from any thread to the event loop, many in one turn of it.
final class Inbox<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var isDraining = false
    }

    private let state = Locked(State())

    /// Whether the caller must have it drained: true for the first value since it was.
    func append(_ element: Element) -> Bool {
        state.withLock { state in
            state.elements.append(element)
            defer { state.isDraining = true }
            return !state.isDraining
        }
    }

    func drain() -> [Element] {
        state.withLock { state in
            let elements = state.elements
            state.elements = []
            // As many come again, most often.
            state.elements.reserveCapacity(elements.count)
            state.isDraining = false
            return elements
        }
    }
}

/// Runs tasks on the event loop's thread, many in one turn of it.
final class EventLoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop
    private let jobs = Inbox<UnownedJob>()

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func enqueue(_ job: consuming ExecutorJob) { if jobs.append(UnownedJob(job)) { eventLoop.execute { self.run() } } }

    /// What these jobs bring about waits for the next turn, so that the network gets its own.
    private func run() { for job in jobs.drain() { job.runSynchronously(on: asUnownedTaskExecutor()) } }
}

/// One push between its caller and its answer.
///
/// Unchecked, because its state is confined to the event loop: the caller's task makes it, hands it over through the
/// ``Inbox`` and never touches it again.
final class Delivery: @unchecked Sendable {
    typealias Outcome = Result<APNSAnswer, PushTransportError>

    let request: PushRequest
    /// Of address and topic, for ``ProvenTokens``.
    let fingerprint: Int
    let startedAt: NIODeadline
    let deadline: NIODeadline
    /// Set before the hand-over; nil once the caller has its answer.
    var continuation: UnsafeContinuation<Outcome, Never>?

    /// Whether the event loop has it; a cancellation may come before that.
    var isAccepted = false
    var isCancelled = false
    var attemptCount = 0
    /// Of the provider token it was sent with.
    var tokenGeneration = 0
    /// The connection and stream it was sent on, while it waits for an answer there.
    var connection: APNSConnection?
    private(set) var streamID: Int32 = 0
    /// How much of the body the peer takes on this stream now, and how much it has got.
    var window = 0
    var sentByteCount = 0
    var isBodySent = false
    var response = PartialResponse()

    init(_ request: PushRequest, startedAt: NIODeadline, deadline: NIODeadline) {
        self.request = request
        self.startedAt = startedAt
        self.deadline = deadline
        fingerprint = Self.fingerprint(request.address, request.topic)
    }

    static func fingerprint(_ address: Address, _ topic: Topic) -> Int {
        var hasher = Hasher()
        hasher.combine(address.bytes)
        hasher.combine(topic)
        return hasher.finalize()
    }

    func sent(on connection: APNSConnection, _ streamID: Int32, _ token: ProviderToken) {
        self.connection = connection
        self.streamID = streamID
        attemptCount += 1
        tokenGeneration = token.generation
        sentByteCount = 0
        isBodySent = false
        if response.isBegun { response = PartialResponse() }
    }

    /// Whether APNs is not to keep it any more: 0 means one attempt, whenever that is.
    func isStale(_ now: Timestamp) -> Bool {
        guard let expiration = request.expiration, expiration.secondsSince1970 > 0 else { return false }
        return expiration <= now
    }

    var isFinished: Bool { continuation == nil }

    func finish(_ outcome: Outcome) {
        guard let continuation else { return }
        self.continuation = nil
        continuation.resume(returning: outcome)
    }
}

/// Remembers for which device tokens APNs has accepted a push, within a fixed amount of memory.
///
/// Two sets of hashes: the younger is filled and becomes the older when it is full; what is used moves to the younger.
/// The hashes are seeded per process. Two tokens with one hash cost nothing but a push on the other connection.
struct ProvenTokens {
    private var young: Set<Int> = []
    private var old: Set<Int> = []
    private let halfCount: Int

    /// - Parameter limit: how many are remembered at most, at about 40 bytes each; at least half as many always are.
    init(limit: Int) { halfCount = max(1, limit / 2) }

    mutating func contains(_ fingerprint: Int) -> Bool {
        if young.contains(fingerprint) { return true }
        guard old.remove(fingerprint) != nil else { return false }
        insert(fingerprint)
        return true
    }

    mutating func insert(_ fingerprint: Int) {
        if young.count >= halfCount {
            old = young
            young = []
        }
        young.insert(fingerprint)
    }

    mutating func remove(_ fingerprint: Int) {
        young.remove(fingerprint)
        old.remove(fingerprint)
    }

    var count: Int { young.count + old.count }
}
