public import Logging
public import Metrics
package import NIOCore
internal import NIOPosix
public import PushSender
package import SealedPush
public import ServiceLifecycle

#if !Server
    #error("this needs the trait Server: .package(…, traits: [\"Server\"]), or swift build --traits Server")
#endif

/// Delivers sealed pushes to APNs, over HTTP/2 and TLS, with a provider token.
///
/// ```swift
/// let key = try ProviderKey(pem: file, keyID: "ABCDE12345", teamID: "FGHIJ67890")
/// let apns = try APNSTransport(APNSConfiguration(endpoint: .production, key: key))
/// let outcome = try await apns.deliver(PushRequest(payload, to: .apns(token)))
/// ```
/// Make one for a team and an environment and keep it: its connections last for days. Any number of tasks may call it at
/// once; all of its network work is on one thread, which takes tens of thousands of pushes in a second. It retries
/// only what APNs surely has not processed; everything else is the caller's choice, as ``PushOutcome`` and
/// ``PushTransportError/mayHaveBeenDelivered`` say.
///
/// Run it as a service, or call ``shutDown()`` before letting go of it; without either its connections are cut.
/// Sources: Apple, "Sending notification requests to APNs"; RFC 9113.
public final class APNSTransport: PushTransport, Service {
    let dispatcher: Dispatcher

    /// - Parameters:
    ///   - logger: gets events with public identifiers: connections, refusals with `apns-id` and the token's first digits.
    ///   - metrics: where `push_requests`, `push_request_duration`, `push_connections`, `push_streams`, `push_waiting`
    ///     and `push_token_renewals` go.
    /// - Throws: ``APNSConfigurationError/tls``
    public convenience init(
        _ configuration: APNSConfiguration, logger: Logger = Logger(label: "sealed-push.apns"),
        metrics: any MetricsFactory = MetricsSystem.factory
    ) throws(APNSConfigurationError) {
        try self.init(
            configuration, logger: logger, metrics: metrics,
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(), clock: TransportClock())
    }

    package init(
        _ configuration: APNSConfiguration, logger: Logger, metrics: any MetricsFactory, eventLoop: any EventLoop,
        clock: TransportClock
    ) throws(APNSConfigurationError) {
        dispatcher = Dispatcher(
            configuration, tls: try TLSClient(endpoint: configuration.endpoint, roots: configuration.trustRoots),
            eventLoop: eventLoop, clock: clock, observer: TransportObserver(logger, metrics))
    }

    deinit { dispatcher.closeNow() }

    /// Sends one push and waits for APNs' answer, at most as long as ``APNSConfiguration/Deadlines/request``.
    ///
    /// A cancelled task gets its error at once, and the push's stream is reset.
    public func deliver(_ request: PushRequest) async throws(PushTransportError) -> PushOutcome {
        guard request.address.carrier.environment != nil else { return .change(PushReason("not-an-apns-address")) }
        return try await answer(to: request).outcome
    }

    /// What APNs itself says.
    package func answer(to request: PushRequest) async throws(PushTransportError) -> APNSAnswer {
        let dispatcher = dispatcher
        let now = dispatcher.clock.now()
        let delivery = Delivery(request, startedAt: now, deadline: now + dispatcher.deadlines.request)
        let outcome = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                delivery.continuation = continuation
                dispatcher.submit(.deliver(delivery))
            }
        } onCancel: {
            dispatcher.submit(.cancel(delivery))
        }
        return try outcome.get()
    }

    /// Runs tasks on the thread of the transport's connections, which saves two switches of threads with each push.
    ///
    /// Give it to tasks that do little but seal and send, as in `addTask(executorPreference:)`; one that computes for
    /// long, or blocks, stops all pushes for as long.
    public var taskExecutor: any TaskExecutor { dispatcher.executor }

    /// Runs until the service group shuts down gracefully; then finishes what was taken, as ``shutDown()`` does.
    public func run() async throws {
        try? await gracefulShutdown()
        await shutDown()
    }

    /// Refuses new pushes with ``PushTransportError/shuttingDown``, waits for the answers to those it has taken (at most
    /// as long as their deadlines) and closes its connections.
    public func shutDown() async { await dispatcher.shutDown() }

    /// Addresses that APNs is known to have accepted pushes for lately, as from a registry. They need not prove
    /// themselves on the connection for tokens that nobody knows.
    public func trust(_ addresses: some Sequence<Address>, topic: Topic) {
        dispatcher.remember(addresses.map { Delivery.fingerprint($0, topic) })
    }
}

/// The time and the chance that a transport goes by. Tests bring their own.
package struct TransportClock: Sendable {
    /// For deadlines and ages.
    package let now: @Sendable () -> NIODeadline
    /// For the `iat` of a provider token.
    package let wall: @Sendable () -> Timestamp
    /// A number from 0 up to 1, for jitter.
    package let chance: @Sendable () -> Double
    /// How often deadlines are checked, in real time.
    package let tick: TimeAmount

    package init(
        now: @escaping @Sendable () -> NIODeadline = { .now() }, wall: @escaping @Sendable () -> Timestamp = { .now() },
        chance: @escaping @Sendable () -> Double = { .random(in: 0..<1) }, tick: TimeAmount = .milliseconds(100)
    ) {
        self.now = now
        self.wall = wall
        self.chance = chance
        self.tick = tick
    }
}

/// One instant on both clocks: the monotonic one stands still while a machine is suspended, the wall's can be set.
struct Moment {
    let uptime: NIODeadline
    let wall: Timestamp

    /// Whole seconds from `earlier` to this moment: what the clock says that has gone further.
    func age(since earlier: Moment) -> Int64 {
        // The wall's whole seconds may be one too many.
        max(uptimeSeconds(since: earlier), wall.seconds(since: earlier.wall) - 1)
    }

    /// How many seconds more the wall's clock has gone than the other.
    func drift(since earlier: Moment) -> Int64 { wall.seconds(since: earlier.wall) - uptimeSeconds(since: earlier) }

    func uptimeSeconds(since earlier: Moment) -> Int64 { (uptime - earlier.uptime).nanoseconds / 1_000_000_000 }
}
