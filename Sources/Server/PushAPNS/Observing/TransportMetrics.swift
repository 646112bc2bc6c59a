internal import Metrics
internal import PushSender

/// A transport's metrics: counts, times and sizes, without identifiers.
///
/// `push_requests` by `outcome`, `push_request_duration`, `push_connections`, `push_streams`, `push_waiting`,
/// `push_token_renewals` by `outcome`.
struct TransportMetrics: Sendable {
    private let accepted: Counter
    private let refused: [APNSAdvice: Counter]
    private let failed: [String: Counter]
    private let duration: Metrics.Timer
    private let connections: Gauge
    private let streams: Gauge
    private let waiting: Gauge
    private let renewals: Counter
    private let failedRenewals: Counter

    init(_ factory: any MetricsFactory) {
        func requests(_ outcome: String) -> Counter {
            Counter(label: "push_requests", dimensions: [("outcome", outcome)], factory: factory)
        }
        accepted = requests("accepted")
        refused = Dictionary(
            uniqueKeysWithValues: APNSAdvice.allCases.map { ($0, requests("refused-\($0.rawValue)")) })
        failed = Dictionary(uniqueKeysWithValues: Self.failures.map { ($0, requests($0)) })
        duration = Metrics.Timer(label: "push_request_duration", factory: factory)
        connections = Gauge(label: "push_connections", factory: factory)
        streams = Gauge(label: "push_streams", factory: factory)
        waiting = Gauge(label: "push_waiting", factory: factory)
        renewals = Counter(label: "push_token_renewals", dimensions: [("outcome", "signed")], factory: factory)
        failedRenewals = Counter(label: "push_token_renewals", dimensions: [("outcome", "failed")], factory: factory)
    }

    func finished(_ outcome: Delivery.Outcome, nanoseconds: Int64) {
        switch outcome {
        case .success(.accepted):
            accepted.increment()
            duration.recordNanoseconds(nanoseconds)
        case .success(.refused(let refusal)):
            refused[refusal.advice]?.increment()
            duration.recordNanoseconds(nanoseconds)
        case .failure(let error): failed[error.name]?.increment()
        }
    }

    func state(connectionCount: Int, streamCount: Int, waitingCount: Int) {
        connections.record(connectionCount)
        streams.record(streamCount)
        waiting.record(waitingCount)
    }

    func tokenRenewed(isSuccess: Bool) { (isSuccess ? renewals : failedRenewals).increment() }

    private static let failures = [
        "unreachable", "connection-lost", "timed-out", "overloaded", "shutting-down", "wrong-clock", "cancelled",
    ]
}
