internal import Logging
internal import Metrics
internal import PushSender

/// The transport's logs and metrics: events, times, sizes, and public identifiers, without any of a push's content.
/// Metrics: `push_requests` by `outcome`, `push_request_duration`, `push_connections`, `push_streams`, `push_waiting`,
/// `push_token_renewals` by `outcome`.
struct TransportObserver: Sendable {
    private let logger: Logger
    private let requests: [String: Counter]
    private let duration: Metrics.Timer
    private let connections: Gauge
    private let streams: Gauge
    private let waiting: Gauge
    private let renewals: Counter
    private let failedRenewals: Counter

    init(_ logger: Logger, _ factory: any MetricsFactory) {
        func counter(_ label: String, _ outcome: String) -> Counter {
            Counter(label: label, dimensions: [("outcome", outcome)], factory: factory)
        }
        self.logger = logger
        let outcomes = ["accepted"] + APNsAdvice.allCases.map { "refused-\($0.rawValue)" } + Self.failures
        requests = Dictionary(uniqueKeysWithValues: outcomes.map { ($0, counter("push_requests", $0)) })
        duration = Metrics.Timer(label: "push_request_duration", factory: factory)
        connections = Gauge(label: "push_connections", factory: factory)
        streams = Gauge(label: "push_streams", factory: factory)
        waiting = Gauge(label: "push_waiting", factory: factory)
        renewals = counter("push_token_renewals", "signed")
        failedRenewals = counter("push_token_renewals", "failed")
    }

    func opened(connection: Int, pool: ConnectionPool.Kind, streamLimit: Int) {
        logger.info(
            "connected to APNs",
            metadata: ["connection": "\(connection)", "pool": "\(pool.rawValue)", "stream-limit": "\(streamLimit)"])
    }

    func closed(connection: Int, pool: ConnectionPool.Kind, reason: String) {
        logger.info(
            "connection to APNs closed",
            metadata: ["connection": "\(connection)", "pool": "\(pool.rawValue)", "reason": "\(reason)"])
    }

    func wentAway(connection: Int, reason: String) {
        logger.notice("APNs is closing a connection", metadata: ["connection": "\(connection)", "reason": "\(reason)"])
    }

    func state(connectionCount: Int, streamCount: Int, waitingCount: Int) {
        connections.record(connectionCount)
        streams.record(streamCount)
        waiting.record(waitingCount)
    }

    func finished(_ outcome: PendingPush.Outcome, nanoseconds: Int64) {
        switch outcome {
        case .success(.accepted): requests["accepted"]?.increment()
        case .success(.refused(let refusal)): requests["refused-\(refusal.advice.rawValue)"]?.increment()
        case .failure(let error):
            requests[error.name]?.increment()
            return
        }
        duration.recordNanoseconds(nanoseconds)
    }

    func refused(_ request: PushRequest, _ refusal: APNsRefusal) {
        logger.info(
            "push refused",
            metadata: [
                "apns-id": "\(request.apnsID)", "token": "\(request.address.logged)", "status": "\(refusal.status)",
                "reason": "\(refusal.reason?.rawValue ?? "none")", "advice": "\(refusal.advice.rawValue)",
            ])
    }

    func tokenRenewed(isSuccess: Bool) {
        if isSuccess {
            renewals.increment()
            logger.debug("provider token renewed")
        } else {
            failedRenewals.increment()
            logger.error("the provider token could not be signed")
        }
    }

    func tokenFrozen() { logger.error("pushes wait: the provider token expired, and APNs doesn't allow a new one yet") }

    func wrongClock() {
        logger.critical(
            "APNs reports a provider token less than 20 minutes old as expired; this machine's clock is wrong")
    }

    private static let failures = [
        PushTransportError.unreachable(""), .connectionLost(""), .timedOut, .overloaded, .shuttingDown, .wrongClock,
        .canceled,
    ].map(\.name)
}
