public import Logging
public import Metrics
package import NIOCore
internal import NIOPosix
public import PushSender
package import SealedPush
public import ServiceLifecycle

#if !Server
#error("this needs the `Server` trait: .package(…, traits: [\"Server\"]), or swift build --traits Server")
#endif

/// Delivers sealed pushes to APNs over HTTP/2 and TLS, with a provider token.
///
/// ```swift
/// let key = try ProviderKey(pem: file, keyID: "ABCDE12345", teamID: "FGHIJ67890")
/// let apns = try APNsTransport(APNsConfiguration(endpoint: .production, key: key))
/// let outcome = try await apns.deliver(PushRequest(payload, to: .apns(token)))
/// ```
/// Create one transport for each team and environment, and keep it, because its connections last for days. Any number of
/// tasks can use it at the same time. All of its network work runs on one thread, which handles tens of thousands of pushes
/// per second. It retries only pushes that APNs certainly hasn't processed. Everything else is up to the caller; see
/// `PushOutcome` and `PushTransportError.mayHaveBeenDelivered`.
///
/// Run it as a service, or call ``shutDown()`` before releasing it. Otherwise, its connections are cut. Sources: Apple,
/// "Sending notification requests to APNs"; RFC 9113.
public final class APNsTransport: PushTransport, Service {
    let dispatcher: Dispatcher

    /// Creates a transport. It connects when it sends its first push.
    ///
    /// - Parameters:
    ///   - configuration: The endpoint, key, limits, and deadlines.
    ///   - logger: Logs events with public identifiers: connections, and refusals with `apns-id` and the token's first digits.
    ///   - metrics: The factory for `push_requests`, `push_request_duration`, `push_connections`, `push_streams`,
    ///     `push_waiting`, and `push_token_renewals`.
    /// - Throws: ``APNsConfigurationError/tls``
    public convenience init(
        _ configuration: APNsConfiguration, logger: Logger = Logger(label: "sealed-push.apns"),
        metrics: any MetricsFactory = MetricsSystem.factory
    ) throws(APNsConfigurationError) {
        try self.init(
            configuration, logger: logger, metrics: metrics,
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(), clock: TransportClock())
    }

    package init(
        _ configuration: APNsConfiguration, logger: Logger, metrics: any MetricsFactory, eventLoop: any EventLoop,
        clock: TransportClock
    ) throws(APNsConfigurationError) {
        dispatcher = Dispatcher(
            configuration, tls: try TLSClient(endpoint: configuration.endpoint, roots: configuration.trustRoots),
            eventLoop: eventLoop, clock: clock, observer: TransportObserver(logger, metrics))
    }

    deinit { dispatcher.closeNow() }

    /// Sends one push and waits for APNs' response, for at most ``APNsConfiguration/Deadlines/request``. If the task is
    /// canceled, throws at once, and resets the push's stream.
    public func deliver(_ request: PushRequest) async throws(PushTransportError) -> PushOutcome {
        guard request.address.carrier.environment != nil else { return .change(PushReason("not-an-apns-address")) }
        return try await answer(to: request).outcome
    }

    /// Returns APNs' own response.
    package func answer(to request: PushRequest) async throws(PushTransportError) -> APNsAnswer {
        let dispatcher = dispatcher
        let now = dispatcher.clock.now()
        let delivery = PendingPush(request, startedAt: now, deadline: now + dispatcher.deadlines.request)
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

    /// An executor that runs tasks on the thread of the transport's connections, which saves two thread switches per push.
    /// Use it, as in `addTask(executorPreference:)`, for tasks that do little more than seal and send. A task that blocks,
    /// or computes for a long time, delays all pushes.
    public var taskExecutor: any TaskExecutor { dispatcher.executor }

    /// Runs until the service group shuts down gracefully. Then finishes the accepted pushes, like ``shutDown()``.
    public func run() async throws {
        try? await gracefulShutdown()
        await shutDown()
    }

    /// Rejects new pushes with `PushTransportError.shuttingDown`, awaits accepted ones until their deadlines, and disconnects.
    public func shutDown() async { await dispatcher.shutDown() }

    /// Adds addresses, such as a registry's, for which APNs recently accepted pushes. They skip the unproven connection.
    public func trust(_ addresses: some Sequence<Address>, topic: Topic) {
        dispatcher.remember(addresses.map { PendingPush.fingerprint($0, topic) })
    }
}
