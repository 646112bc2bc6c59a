/// Delivers sealed pushes to one carrier's addresses: APNs over HTTP/2 (`PushAPNS`), or another service.
///
/// Called from many tasks at once. An implementation bounds every wait, and says by ``PushOutcome`` what the service's answers
/// mean. A push for another carrier's address is answered with ``PushOutcome/change(_:)``.
public protocol PushTransport: Sendable {
    /// Sends one push and waits for the answer.
    ///
    /// - Throws: ``PushTransportError`` where there was none; the push may have been delivered all the same.
    func deliver(_ request: PushRequest) async throws(PushTransportError) -> PushOutcome
}

/// Why a push got no answer.
public enum PushTransportError: Error, Hashable, Sendable {
    /// No connection could be made, no stream was free in time, there was no provider token, or the push expired before. It
    /// was not sent, or the service said that it did not process it. The text says why.
    case unreachable(String)
    /// The connection was lost, reset or closed before the answer: it may have been delivered. The text says how.
    case connectionLost(String)
    /// No answer within the request's deadline: it may have been delivered.
    case timedOut
    /// As many pushes wait already as the transport was told to hold. The push was not sent.
    case overloaded
    /// The transport is shutting down. The push was not sent.
    case shuttingDown
    /// The service calls fresh credentials expired: this machine's clock is wrong.
    case wrongClock
    /// The calling task was cancelled.
    case cancelled

    /// Whether the push may have reached the service.
    public var mayHaveBeenDelivered: Bool {
        switch self {
        case .connectionLost, .timedOut, .cancelled: true
        case .unreachable, .overloaded, .shuttingDown, .wrongClock: false
        }
    }

    /// For reports: without the transport's own text.
    package var name: String {
        switch self {
        case .unreachable: "unreachable"
        case .connectionLost: "connection-lost"
        case .timedOut: "timed-out"
        case .overloaded: "overloaded"
        case .shuttingDown: "shutting-down"
        case .wrongClock: "wrong-clock"
        case .cancelled: "cancelled"
        }
    }
}
