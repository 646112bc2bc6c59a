internal import Hummingbird
internal import HummingbirdCore
internal import HummingbirdTLS
package import Logging
internal import NIOCore
package import PushOutbox

/// `/metrics` in Prometheus' format, `/healthz`, and `/readyz`, at their own address, for a program that serves nothing
/// else. Reading metrics needs no token. Contains public names only.
package final class MetricsServer: Sendable {
    private let service: RunningService

    /// Counts the outbox at most once a second: counting a large one is slow, and callers need no token. `deliveries`
    /// returns the report of this process's courier, or `nil` if there is none yet.
    package init(
        host: String, port: Int, metrics: PrometheusMetrics, readiness: Readiness = Readiness(), outbox: Outbox,
        deliveries: @escaping @Sendable () async -> CourierReport?, limits: ServerLimits = ServerLimits(),
        logger: Logger
    ) throws(ServingError) {
        let place = ServerPlace.address(host, port: port)
        let router = Router(reportingTo: metrics)
        let group = router.addReadiness(of: outbox, readiness, limits, at: place)
        let status = Cache<Bool, OutboxStatus>(clock: limits.clock) { _ in try await outbox.status() }
        group.get("/metrics") { _, _ in
            let samples = try await status.value(true).samples + (await deliveries()?.samples ?? [])
            return Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: .init(byteBuffer: ByteBuffer(string: metrics.text(samples))))
        }
        let door = Door(
            callers: .metrics, place: place, router: router.refusingOtherMethods(), firstHeadTime: limits.idleTime,
            maximumByteCount: ServerLimits.bodyByteCount)
        service = try RunningService([door], limits, logger)
    }

    package func run(onRunning: @escaping @Sendable (Int?) -> Void = { _ in }) async throws(ServingError) {
        try await service.run { onRunning($0[0]) }
    }

    package func stop() async { await service.stop() }
}
