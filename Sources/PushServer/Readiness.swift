internal import Hummingbird
internal import PushOutbox
internal import SealedPush
internal import _PushBase

/// `/readyz`: whether the outbox can be used, and nobody has said that the sender can't be. Nobody shows a token for it, so the
/// outbox is asked once a second at most.
struct Readiness: Sendable {
    private let outbox: KeptAnswer<Bool>
    private let metrics: PrometheusMetrics

    init(
        _ outbox: Outbox, _ metrics: PrometheusMetrics, clock: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.metrics = metrics
        self.outbox = KeptAnswer(clock: clock) {
            try await outbox.requireReadable()
            return true
        }
    }

    func answer(_ request: Request, _ context: ServerContext) async throws -> Response {
        if let obstacle = metrics.obstacle.withLock({ $0 }) { throw obstacle }
        _ = try await outbox.value()
        return .json(["status": "ready"])
    }
}
