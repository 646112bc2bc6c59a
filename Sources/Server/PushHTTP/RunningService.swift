internal import Foundation
internal import Hummingbird
internal import HummingbirdCore
internal import HummingbirdTLS
package import Logging
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import PushCore
package import PushOutbox
internal import PushSender
internal import ServiceLifecycle

/// A listener: for whom it is, its place, its paths, and the limits of its connections.
struct Door {
    let audience: Audience
    let place: ServerPlace
    let router: Router<ServerContext>
    var tls: TLSConfiguration?
    let firstHeadTime: Duration
    /// The most bytes of a request on the wire.
    let maximumByteCount: Int

    /// The callers that a listener serves. The back end has threads and descriptors that other callers can't use up.
    enum Audience: CaseIterable {
        case backEnd
        case phones
        case metrics

        /// Returns the most connections among `limit` open files: half for the back end, and together few enough that the
        /// process can always open other files.
        func connectionCount(ofFiles limit: Int) -> Int {
            let sixteenths =
                switch self {
                case .backEnd: 8
                case .phones: 7
                case .metrics: 1
                }
            return max(1, (limit - 64) * sixteenths / 16)
        }

        /// The event loops of the connections. The back end shares the process's own with delivery.
        var group: MultiThreadedEventLoopGroup { self == .backEnd ? .singleton : Crowd.group }

        /// The executor of the requests, or `nil` for Swift's own threads.
        var executor: (any TaskExecutor)? { self == .backEnd ? nil : Crowd.executor }
    }
}

/// The threads for callers that may be many or hostile.
private final class Crowd: TaskExecutor {
    static let group = MultiThreadedEventLoopGroup(numberOfThreads: System.coreCount)
    static let executor = Crowd()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Self.group.any().execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Hummingbird's applications, one for each listener, from start to end.
final class RunningService: Sendable {
    /// Kept while they may be bound.
    private let sockets: [SocketPlace]
    private let group: ServiceGroup
    private let state: Locked<State>

    private struct State: Sendable {
        var ports: [Int?]
        var startingCount: Int
        var onRunning: @Sendable ([Int?]) -> Void = { _ in }
    }

    init(_ doors: [Door], _ limits: ServerLimits, _ logger: Logger) throws(ServingError) {
        let state = Locked(State(ports: doors.map { _ in nil }, startingCount: doors.count))
        var sockets: [SocketPlace] = []
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = []
        for (index, door) in doors.enumerated() {
            let address: BindAddress
            var socket: SocketPlace?
            switch door.place {
            case .socket(let path):
                do throws(ServingError) { socket = try SocketPlace(path) } catch { throw error.at(door.place) }
                address = .unixDomainSocket(path: path)
            case .address(let host, let port): address = .hostname(host, port: port)
            }
            if let socket { sockets.append(socket) }
            let application = Application(
                router: door.router, server: try Self.server(door, limits),
                configuration: .init(address: address, backlog: limits.connectionCount),
                onServerRunning: { [socket] channel in
                    socket?.remember()
                    if socket?.share() == false { logger.error("the socket can't be shared with its folder's group") }
                    let running = state.withLock { state -> State? in
                        state.ports[index] = channel.localAddress?.port
                        state.startingCount -= 1
                        return state.startingCount == 0 ? state : nil
                    }
                    if let running { running.onRunning(running.ports) }
                }, eventLoopGroupProvider: .shared(door.audience.group), logger: logger)
            let listener = Listener(
                place: door.place, executor: door.audience.executor, application: application)
            services.append(.init(service: listener))
        }
        group = ServiceGroup(configuration: .init(services: services, logger: logger))
        self.sockets = sockets
        self.state = state
    }

    private static func server(_ door: Door, _ limits: ServerLimits) throws(ServingError) -> HTTPServerBuilder {
        let connections = ConnectionCount(
            min(limits.connectionCount, door.audience.connectionCount(ofFiles: Descriptors.limit)))
        let (firstHeadTime, byteCount) = (door.firstHeadTime, door.maximumByteCount)
        let http = HTTPServerBuilder.http1(
            configuration: .init(
                additionalChannelHandlers: [
                    ConnectionLimits(
                        connections, firstHeadTime: firstHeadTime, requestTime: limits.requestTime,
                        maximumByteCount: byteCount)
                ], idleTimeout: TimeAmount(limits.idleTime),
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 16_384, maxHeaderListSize: 32_768, maxHeaderFieldCount: 100)))
        do { return try door.tls.map { try .tls(http, tlsConfiguration: $0) } ?? http } catch {
            throw .badCertificate(CertificateFault(.damaged, in: .chain))
        }
    }

    /// Whether callers still find its sockets.
    var hasItsSockets: Bool { sockets.allSatisfy(\.isThere) }

    /// - Parameter onRunning: Called with the listeners' ports once all of them listen.
    func run(_ onRunning: @escaping @Sendable ([Int?]) -> Void) async throws(ServingError) {
        state.withLock { $0.onRunning = onRunning }
        do { try await group.run() } catch is ServiceGroupError {
            // The service was stopped before it started.
        } catch { throw error as? ServingError ?? .notBound("\(type(of: error))") }
    }

    func stop() async { await group.triggerGracefulShutdown() }
}

/// An application whose errors name its place.
private struct Listener: Service {
    let place: ServerPlace
    let executor: (any TaskExecutor)?
    let application: any Service

    func run() async throws {
        do {
            try await withTaskExecutorPreference(executor) { try await application.run() }
        } catch let error as IOError {
            throw ServingError.notBound(String(cString: strerror(error.errnoCode)), at: place)
        } catch { throw ServingError.notBound("\(type(of: error))", at: place) }
    }
}

extension ServingError {
    fileprivate func at(_ place: ServerPlace) -> ServingError {
        if case .notBound(let words, _) = self { .notBound(words, at: place) } else { self }
    }
}

/// `/metrics` in Prometheus' format, `/healthz`, and `/readyz`, at their own address, for a program that serves nothing
/// else. Reading metrics needs no token. Contains public names only.
package final class MetricsServer: Sendable {
    private let service: RunningService

    /// Counts the outbox at most once a second: counting a large one is slow, and callers need no token. `deliveries`
    /// returns the report of this process's courier, or `nil` if there is none yet.
    package init(
        host: String, port: Int, metrics: PrometheusMetrics, outbox: Outbox,
        deliveries: @escaping @Sendable () async -> CourierReport?, limits: ServerLimits = ServerLimits(),
        logger: Logger
    ) throws(ServingError) {
        let place = ServerPlace.address(host, port: port)
        let router = Router(reportingTo: metrics)
        let group = router.addReadiness(of: outbox, metrics, limits, at: place)
        let status = Cache<Bool, OutboxStatus>(clock: limits.clock) { _ in try await outbox.status() }
        group.get("/metrics") { _, _ in
            let samples = try await status.value(true).samples + (await deliveries()?.samples ?? [])
            return Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: .init(byteBuffer: ByteBuffer(string: metrics.text(samples))))
        }
        let door = Door(
            audience: .metrics, place: place, router: router.refusingOtherMethods(), firstHeadTime: limits.idleTime,
            maximumByteCount: ServerLimits.bodyByteCount)
        service = try RunningService([door], limits, logger)
    }

    package func run(onRunning: @escaping @Sendable (Int?) -> Void = { _ in }) async throws(ServingError) {
        try await service.run { onRunning($0[0]) }
    }

    package func stop() async { await service.stop() }
}

extension OutboxStatus {
    fileprivate var samples: [MetricSample] {
        [
            MetricSample("push_outbox_devices", .gauge, deviceCount),
            MetricSample("push_outbox_reachable_devices", .gauge, reachableDeviceCount),
            MetricSample("push_outbox_waiting", .gauge, waitingCount),
            MetricSample("push_outbox_bytes", .gauge, fileByteCount),
            MetricSample("push_records_expiring", .gauge, expiringRecordCount),
            MetricSample("push_outbox_queues", .gauge, queues.due, labels: [("state", "due")]),
            MetricSample("push_outbox_queues", .gauge, queues.leased, labels: [("state", "leased")]),
            MetricSample("push_outbox_queues", .gauge, queues.deferred, labels: [("state", "deferred")]),
        ]
            + waitingByAge.sorted { $0.key < $1.key }.map {
                MetricSample(
                    "push_outbox_waiting_older_than", .gauge, $0.value,
                    labels: [("seconds", String($0.key.components.seconds))])
            }
            + deadLetters.sorted { $0.key < $1.key }.map {
                MetricSample("push_outbox_refused", .gauge, $0.value, labels: [("reason", $0.key)])
            }
            + [firstRecordExpiry].compactMap(\.self).map {
                MetricSample("push_records_expiry_seconds", .gauge, Int($0.secondsSince1970))
            }
    }
}

extension CourierReport {
    fileprivate var samples: [MetricSample] {
        let lists = [("deferred", deferred), ("dropped", dropped), ("refused", dead)]
        return [
            MetricSample(
                "push_deliveries_total", .counter, acceptedCount, labels: [("outcome", "accepted"), ("reason", "")]),
            MetricSample("push_deliveries_in_flight", .gauge, inFlightCount),
        ]
            + MetricSample.histogram(
                "push_delivery_wait_seconds", bounds: WaitingTimes.bounds.map { $0 / .seconds(1) },
                counts: waits.counts, count: waits.count, sum: waits.sum / .seconds(1))
            + lists.flatMap { outcome, reasons in
                reasons.sorted { $0.key < $1.key }.map {
                    MetricSample(
                        "push_deliveries_total", .counter, $0.value, labels: [("outcome", outcome), ("reason", $0.key)])
                }
            }
    }
}
