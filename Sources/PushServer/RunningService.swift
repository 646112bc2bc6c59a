internal import Foundation
internal import Hummingbird
internal import HummingbirdCore
internal import HummingbirdTLS
package import Logging
internal import NIOCore
package import PushOutbox
internal import PushSender
internal import ServiceLifecycle
internal import _PushBase

/// An application of Hummingbird's from its start to its end, within the limits of ``ServerLimits``.
final class RunningService: Sendable {
    private let socket: SocketPlace?
    private let group: ServiceGroup
    private let onRunning = Locked<@Sendable (Int?) -> Void>({ _ in })

    init<Responder: HTTPResponderBuilder>(
        _ router: Responder, at place: ServerPlace, _ certificate: ServerCertificate?, _ limits: ServerLimits,
        _ logger: Logger
    ) throws(ServingError) where Responder.Responder.Context == ServerContext {
        let http = HTTPServerBuilder.http1(
            configuration: .init(
                additionalChannelHandlers: [
                    ConnectionDeadline(
                        TimeAmount(limits.requestTime), maximumByteCount: ServerLimits.batchByteCount + 65_536)
                ],
                idleTimeout: TimeAmount(limits.idleTime),
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 16_384, maxHeaderListSize: 32_768, maxHeaderFieldCount: 100)))
        let (socket, address) = try Self.taken(place)
        self.socket = socket
        let server: HTTPServerBuilder
        do { server = try certificate.map { try .tls(http, tlsConfiguration: $0.configuration) } ?? http } catch {
            throw .badCertificate
        }
        // Files of its own it must always be able to open.
        let most = min(limits.connectionCount, max(1, Descriptors.limit - 64))
        let onRunning = onRunning
        let application = Application(
            router: router, server: server,
            configuration: .init(
                address: address, backlog: limits.connectionCount,
                availableConnectionsDelegate: MaximumAvailableConnections(most, logger: logger)),
            onServerRunning: { channel in onRunning.withLock { $0 }(channel.localAddress?.port) }, logger: logger)
        group = ServiceGroup(configuration: .init(services: [.init(service: application)], logger: logger))
    }

    private static func taken(_ place: ServerPlace) throws(ServingError) -> (SocketPlace?, BindAddress) {
        switch place {
        case .socket(let path):
            let socket = try SocketPlace(path)
            return (socket, .unixDomainSocket(path: socket.bound))
        case .address(let host, let port): return (nil, .hostname(host, port: port))
        }
    }

    func run(_ onRunning: @escaping @Sendable (Int?) -> Void) async throws(ServingError) {
        let (socket, group) = (socket, group)
        self.onRunning.withLock {
            $0 = { port in
                // Where callers can't find it, it need not run.
                guard socket?.show() ?? true else {
                    Task { await group.triggerGracefulShutdown() }
                    return
                }
                onRunning(port)
            }
        }
        defer {
            self.onRunning.withLock { $0 = { _ in } }
            socket?.release()
        }
        do { try await group.run() } catch let error as IOError {
            throw .notBound(String(cString: strerror(error.errnoCode)))
        } catch is ServiceGroupError {
            // It was stopped before it began.
        } catch { throw .notBound("\(type(of: error))") }
        if let words = socket?.failure { throw .notBound(words) }
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
        let router = Router(context: ServerContext.self)
        router.add(middleware: Reporting(metrics: metrics))
        ServerRoutes.add(to: router, "/healthz", [.get: { _, _ in .json(["status": "running"]) }])
        ServerRoutes.add(to: router, "/readyz", [.get: Readiness(outbox, metrics, clock: limits.clock).answer])
        let status = KeptAnswer(clock: limits.clock) { try await outbox.status() }
        ServerRoutes.add(
            to: router, "/metrics",
            [
                .get: { _, _ in
                    let samples = try await status.value().samples + (await deliveries()?.samples ?? [])
                    return Response(
                        status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                        body: .init(byteBuffer: ByteBuffer(string: metrics.text(samples))))
                }
            ])
        service = try RunningService(
            router, at: .address(host, port: port), nil, limits, logger)
    }

    package func run(onRunning: @escaping @Sendable (Int?) -> Void = { _ in }) async throws(ServingError) {
        try await service.run(onRunning)
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
            + waitingByAge.map {
                MetricSample(
                    "push_outbox_waiting_older_than", .gauge, $0.count,
                    labels: [("seconds", String($0.olderThan.components.seconds))])
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
