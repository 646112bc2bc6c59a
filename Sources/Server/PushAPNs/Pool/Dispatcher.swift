internal import NIOCore
internal import PushCore
internal import PushSender

/// The implementation of a transport: its two pools of connections, the provider token, and the periodic checks.
///
/// ``APNsTransport`` is what callers see: an asynchronous function that sends one push. A dispatcher is the state behind it, for
/// all pushes at once. It lives on one event loop, whose single thread does all the network work, and which needs no locks.
///
/// A push's way through it:
/// 1. `submit` puts the push into an inbox from any thread. The event loop empties the inbox once per turn, however many pushes
///    it holds, so a burst costs one wake-up.
/// 2. `accept` refuses it if the transport is shutting down or too many pushes wait. Otherwise, the push joins a pool: one is
///    for device tokens that Apple has accepted, one for all others. Apple slows down a connection on which it refuses pushes,
///    so unknown tokens get a connection of their own.
/// 3. The pool gives it to a connection with a free stream, together with the provider token, and opens connections as needed.
/// 4. The connection reports Apple's response, or why there is none. `finish` resumes the caller, once.
///
/// Beside the pushes, a dispatcher owns what they share:
/// - **The provider token.** It is signed off the event loop, renewed before it is old, and held back while Apple would call a
///   new one too early. Pushes wait for it in their pools until their deadlines.
/// - **The tick.** As long as there is a connection or a push, it runs regularly. It ends pushes whose time is up, pings and
///   retires connections, renews the token, and reports the state to the observer.
/// - **The shutdown.** No push is accepted after it begins. It ends when the last one has finished and each connection is
///   closed. A transport that is released without it closes at once.
///
/// Whether a push may be sent again after a failure isn't decided here. A pool repeats only those that Apple has certainly not
/// processed; for any other, the caller gets an error that says so.
///
/// `Sendable` is unchecked, because all mutable state is confined to the event loop. Other threads call only the functions of
/// the first section.
final class Dispatcher: @unchecked Sendable {
    let eventLoop: any EventLoop
    let executor: EventLoopExecutor
    let clock: TransportClock
    let endpoint: APNsEndpoint
    let proxy: APNsEndpoint?
    let deadlines: DeadlineAmounts
    let tls: TLSClient
    let observer: TransportObserver
    let limits: APNsConfiguration.Limits
    private let key: ProviderKey
    private let submissions = Inbox<Submission>()

    var proven: ProvenTokens
    var tokens: TokenSource
    private(set) var pools: [ConnectionPool] = []
    private var ticker: RepeatedTask?
    private var connectionCount = 0
    private var outstandingCount = 0
    private(set) var isShuttingDown = false
    private var hasCanceled = false
    private var isTokenFrozen = false
    private(set) var isClosed = false
    private var shutdownWaiters: [CheckedContinuation<Void, Never>] = []

    init(
        _ configuration: APNsConfiguration, tls: TLSClient, eventLoop: any EventLoop, clock: TransportClock,
        observer: TransportObserver
    ) {
        self.eventLoop = eventLoop
        self.clock = clock
        executor = EventLoopExecutor(eventLoop)
        self.tls = tls
        self.observer = observer
        endpoint = configuration.endpoint
        proxy = configuration.proxy
        deadlines = DeadlineAmounts(deadlines: configuration.deadlines)
        limits = configuration.limits
        key = configuration.key
        proven = ProvenTokens(limit: 1_000_000)
        tokens = TokenSource(clock: clock) { _ in }
        tokens = TokenSource(clock: clock) { [unowned self] in startSigning(issuedAt: $0) }
        pools = [
            ConnectionPool(.proven, connectionLimit: limits.connectionCount, dispatcher: self),
            ConnectionPool(.unproven, connectionLimit: 1, dispatcher: self),
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

    /// Ends at once, for a transport that has been released.
    func closeNow() {
        eventLoop.execute {
            self.isShuttingDown = true
            self.isClosed = true
            for pool in self.pools { pool.closeNow() }
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
        for pool in pools { pool.dispatch(now: now) }
        startTicking()
    }

    private func accept(_ delivery: PendingPush) {
        outstandingCount += 1
        delivery.isAccepted = true
        if delivery.isCanceled { return finish(delivery, .failure(.canceled)) }
        if isShuttingDown { return finish(delivery, .failure(.shuttingDown)) }
        if waitingCount >= limits.waitingCount { dropFinished() }
        guard waitingCount < limits.waitingCount else { return finish(delivery, .failure(.overloaded)) }
        let isProven = delivery.request.isProven || proven.contains(delivery.fingerprint)
        pools[isProven ? 0 : 1].append(delivery)
    }

    /// Cancels a push. If the cancellation comes before the push itself, the push is rejected later.
    private func cancel(_ delivery: PendingPush) {
        delivery.isCanceled = true
        guard delivery.isAccepted, !delivery.isFinished else { return }
        if let connection = delivery.connection { connection.cancel(delivery) } else { hasCanceled = true }
        finish(delivery, .failure(.canceled))
    }

    var waitingCount: Int { pools.reduce(0) { $0 + $1.waiting.count } }

    /// Removes canceled pushes from the queues.
    private func dropFinished() {
        guard hasCanceled else { return }
        hasCanceled = false
        for pool in pools { pool.dropFinished() }
    }

    func finish(_ delivery: PendingPush, _ outcome: PendingPush.Outcome) {
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
        // Apple counts the tokens on each connection.
        if result == .early { for pool in pools { pool.retireAll(because: "the clock was set") } }
        for pool in pools {
            if case .waiting(let wait) = tokens.current(now: now) { pool.failWaiting(.unreachable(wait.rawValue)) }
            pool.dispatch(now: now)
        }
    }

    /// Records what a pool's provider token is waiting for, or nil if there is one.
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
        for pool in pools { pool.tick(now: now) }
        let connections = pools.flatMap { $0.connections }
        // Renews the token, so that the first push after a quiet hour need not wait for it.
        if !connections.isEmpty { _ = tokens.current(now: now) }
        observer.state(
            connectionCount: connections.count, streamCount: connections.reduce(0) { $0 + $1.state.streamCount },
            waitingCount: waitingCount)
        if connections.isEmpty, outstandingCount == 0 { stopTicking() }
    }

    private func stopTicking() { ticker.take()?.cancel() }

    /// Completes a shutdown once no push is in flight.
    func endIfDrained() {
        guard isShuttingDown, outstandingCount == 0 else { return }
        for pool in pools { pool.close() }
        guard pools.allSatisfy({ $0.connections.isEmpty }) else { return }
        isClosed = true
        stopTicking()
        // Breaks the reference cycle between pools and dispatcher.
        pools = []
        for waiter in shutdownWaiters { waiter.resume() }
        shutdownWaiters = []
    }
}

enum Submission: Sendable {
    case deliver(PendingPush)
    case cancel(PendingPush)
}

/// Passes values from any thread to the event loop, many per turn.
final class Inbox<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var isDraining = false
    }

    private let state = Locked(State())

    /// Adds a value. Returns whether the caller must trigger draining, which is true for the first value after each drain.
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
            // The next batch is usually about the same size.
            state.elements.reserveCapacity(elements.count)
            state.isDraining = false
            return elements
        }
    }
}

/// Runs tasks on the event loop's thread, many per turn.
final class EventLoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop
    private let jobs = Inbox<UnownedJob>()

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func enqueue(_ job: consuming ExecutorJob) { if jobs.append(UnownedJob(job)) { eventLoop.execute { self.run() } } }

    /// Work that these jobs submit waits for the next turn, so that the network gets its turn.
    private func run() { for job in jobs.drain() { job.runSynchronously(on: asUnownedTaskExecutor()) } }
}

/// The device tokens that APNs has accepted a push for, in a fixed amount of memory. There are two sets of hashes. When the
/// younger is full, it replaces the older. A hash that is used moves to the younger one. The hashes are seeded per process.
/// If two tokens share a hash, the worst case is a push on the wrong connection.
struct ProvenTokens {
    private var young: Set<Int> = []
    private var old: Set<Int> = []
    private let halfCount: Int

    /// - Parameter limit: The maximum number of tokens kept, at about 40 bytes each. At least half as many are always kept.
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
