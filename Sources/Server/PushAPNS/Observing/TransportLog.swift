internal import Logging
internal import Metrics
internal import PushSender

/// What a transport logs: events and public identifiers only, nothing of a push's content.
struct TransportLog: Sendable {
    let logger: Logger

    func opened(connection: Int, lane: Lane.Kind, streamLimit: Int) {
        logger.info(
            "connected to APNs",
            metadata: ["connection": "\(connection)", "lane": "\(lane.rawValue)", "stream-limit": "\(streamLimit)"])
    }

    func closed(connection: Int, lane: Lane.Kind, reason: String) {
        logger.info(
            "connection to APNs closed",
            metadata: ["connection": "\(connection)", "lane": "\(lane.rawValue)", "reason": "\(reason)"])
    }

    func wentAway(connection: Int, reason: String) {
        logger.notice("APNs ends a connection", metadata: ["connection": "\(connection)", "reason": "\(reason)"])
    }

    func refused(_ request: PushRequest, _ refusal: APNSRefusal) {
        logger.info(
            "push refused",
            metadata: [
                "apns-id": "\(request.apnsID)", "token": "\(request.address.logged)", "status": "\(refusal.status)",
                "reason": "\(refusal.reason ?? "none")", "advice": "\(refusal.advice.rawValue)",
            ])
    }

    func tokenRenewed(isSuccess: Bool) {
        if isSuccess {
            logger.debug("provider token renewed")
        } else {
            logger.error("the provider token could not be signed")
        }
    }

    func tokenFrozen() { logger.error("pushes wait: the provider token has expired, and APNs allows no new one yet") }

    func wrongClock() {
        logger.critical(
            "APNs calls a provider token expired that is younger than 20 minutes: this machine's clock is wrong")
    }
}

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
        refused = Dictionary(uniqueKeysWithValues: APNSAdvice.allCases.map { ($0, requests("refused-\($0.rawValue)")) })
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
