internal import Foundation
internal import Hummingbird
internal import HummingbirdCore
internal import HummingbirdTLS
package import Logging
internal import NIOCore
internal import NIOSSL
internal import PushCore
package import PushOutbox
internal import PushSender
internal import ServiceLifecycle

/// A listener: where it listens, its paths, and the limits of its connections.
struct Door {
    let place: ServerPlace
    let router: Router<ServerContext>
    let tls: TLSConfiguration?
    let connections: ConnectionCount
    let firstHeadTime: Duration
    let maximumByteCount: Int

    init(
        _ place: ServerPlace, _ router: Router<ServerContext>, tls: TLSConfiguration?, _ connections: ConnectionCount,
        firstHeadTime: Duration, maximumByteCount: Int
    ) {
        (self.place, self.router, self.tls, self.connections) = (place, router, tls, connections)
        (self.firstHeadTime, self.maximumByteCount) = (firstHeadTime, maximumByteCount)
    }
}

/// Hummingbird's applications, one for each door, from their start to their end.
final class RunningService: Sendable {
    private let sockets: [SocketPlace?]
    private let group: ServiceGroup
    private let state: Locked<State>

    private struct State {
        var ports: [Int?]
        var missing: Set<Int>
        var onRunning: @Sendable ([Int?]) -> Void = { _ in }
    }

    init(_ doors: [Door], _ limits: ServerLimits, _ logger: Logger) throws(ServingError) {
        let state = Locked(State(ports: doors.map { _ in nil }, missing: Set(doors.indices)))
        var sockets: [SocketPlace?] = []
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = []
        let bound = Locked<(@Sendable (Int, Int?) -> Void)>({ _, _ in })
        for (index, door) in doors.enumerated() {
            let address: BindAddress
            switch door.place {
            case .socket(let path):
                let socket = try SocketPlace(path)
                sockets.append(socket)
                address = .unixDomainSocket(path: socket.bound)
            case .address(let host, let port):
                sockets.append(nil)
                address = .hostname(host, port: port)
            }
            let application = Application(
                router: door.router, server: try Self.server(door, limits),
                configuration: .init(address: address, backlog: limits.connectionCount),
                onServerRunning: { channel in bound.withLock { $0 }(index, channel.localAddress?.port) }, logger: logger
            )
            services.append(.init(service: application))
        }
        let group = ServiceGroup(configuration: .init(services: services, logger: logger))
        (self.sockets, self.group, self.state) = (sockets, group, state)
        let places = sockets
        bound.withLock {
            $0 = { index, port in
                // A service that callers can't find need not run.
                guard places[index]?.show() ?? true else {
                    Task { await group.triggerGracefulShutdown() }
                    return
                }
                let announce = state.withLock { state -> (() -> Void)? in
                    state.ports[index] = port
                    state.missing.remove(index)
                    guard state.missing.isEmpty else { return nil }
                    return { [ports = state.ports, onRunning = state.onRunning] in onRunning(ports) }
                }
                announce?()
            }
        }
    }

    private static func server(_ door: Door, _ limits: ServerLimits) throws(ServingError) -> HTTPServerBuilder {
        let (connections, firstHeadTime, byteCount) = (door.connections, door.firstHeadTime, door.maximumByteCount)
        let http = HTTPServerBuilder.http1(
            configuration: .init(
                additionalChannelHandlers: [
                    ConnectionLimits(
                        connections, firstHeadTime: firstHeadTime, requestTime: limits.requestTime,
                        maximumByteCount: byteCount)
                ], idleTimeout: TimeAmount(limits.idleTime),
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 16_384, maxHeaderListSize: 32_768, maxHeaderFieldCount: 100)))
        do { return try door.tls.map { try .tls(http, tlsConfiguration: $0) } ?? http } catch { throw .badCertificate }
    }

    /// - Parameter onRunning: called with the doors' ports when all of them listen.
    func run(_ onRunning: @escaping @Sendable ([Int?]) -> Void) async throws(ServingError) {
        state.withLock { $0.onRunning = onRunning }
        defer {
            state.withLock { $0.onRunning = { _ in } }
            for socket in sockets { socket?.release() }
        }
        do { try await group.run() } catch let error as IOError {
            throw .notBound(String(cString: strerror(error.errnoCode)))
        } catch is ServiceGroupError {
            // It was stopped before it began.
        } catch { throw .notBound("\(type(of: error))") }
        if let words = sockets.lazy.compactMap({ $0?.failure }).first { throw .notBound(words) }
    }

    func stop() async { await group.triggerGracefulShutdown() }
}

/// `/metrics` as Prometheus reads it, `/healthz` and `/readyz`, at an address of their own: for a program that serves nothing
/// else, and so that who reads figures needs no token. Public names only.
package final class MetricsServer: Sendable {
    private let service: RunningService

    /// - Parameters:
    ///   - outbox: what is counted in it, once a second at most: to count takes long in a large one, and nobody shows a token.
    ///   - deliveries: what a courier of this process has done; nil where there is none yet.
    package init(
        host: String, port: Int, metrics: PrometheusMetrics, outbox: Outbox,
        deliveries: @escaping @Sendable () async -> CourierReport?, limits: ServerLimits = ServerLimits(),
        logger: Logger
    ) throws(ServingError) {
        let router = ServerRoutes.router(metrics)
        ServerRoutes.addReadiness(to: router, outbox, metrics, limits)
        let status = Cache<Bool, OutboxStatus>(clock: limits.clock) { _ in try await outbox.status() }
        ServerRoutes.add(
            to: router, "/metrics",
            [
                .get: { _, _ in
                    let samples = try await status.value(true).samples + (await deliveries()?.samples ?? [])
                    return Response(
                        status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                        body: .init(byteBuffer: ByteBuffer(string: metrics.text(samples))))
                }
            ])
        let door = Door(
            .address(host, port: port), router, tls: nil, ConnectionCount(limits.connectionCount, byAddress: .max),
            firstHeadTime: limits.idleTime, maximumByteCount: ServerLimits.bodyByteCount)
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
            MetricSample("push_outbox_queues", .gauge, queues.due, labels: [("state", "due")]),
            MetricSample("push_outbox_queues", .gauge, queues.leased, labels: [("state", "leased")]),
            MetricSample("push_outbox_queues", .gauge, queues.delayed, labels: [("state", "put-off")]),
        ]
            + waitingByAge.sorted { $0.key < $1.key }.map {
                MetricSample(
                    "push_outbox_waiting_older_than", .gauge, $0.value,
                    labels: [("seconds", String($0.key.components.seconds))])
            }
            + deadLetters.sorted { $0.key < $1.key }.map {
                MetricSample("push_outbox_refused", .gauge, $0.value, labels: [("reason", $0.key)])
            }
    }
}

extension CourierReport {
    fileprivate var samples: [MetricSample] {
        let lists = [("put-off", retries), ("gone", dropped), ("refused", dead)]
        return [
            MetricSample(
                "push_deliveries_total", .counter, acceptedCount, labels: [("outcome", "accepted"), ("reason", "")]),
            MetricSample("push_deliveries_in_flight", .gauge, inFlightCount),
        ] + MetricSample.histogram("push_delivery_wait_seconds", waits)
            + lists.flatMap { outcome, reasons in
                reasons.sorted { $0.key < $1.key }.map {
                    MetricSample(
                        "push_deliveries_total", .counter, $0.value, labels: [("outcome", outcome), ("reason", $0.key)])
                }
            }
    }
}
