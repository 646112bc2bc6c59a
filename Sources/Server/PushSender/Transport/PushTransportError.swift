/// The reason that a push got no response.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum PushTransportError: Error, Hashable, Sendable {
    /// The push wasn't sent, or the service reported that it didn't process it. There was no connection, no free stream in
    /// time, or no provider token, or the push had expired. The text says which.
    case unreachable(String)
    /// The connection was lost, reset, or closed before the response. The push may have been delivered. The text says how.
    case connectionLost(String)
    /// No response came within the request's deadline. The push may have been delivered.
    case timedOut
    /// The transport already holds its maximum number of pushes. The push wasn't sent.
    case overloaded
    /// The transport is shutting down. The push wasn't sent.
    case shuttingDown
    /// The service reports fresh credentials as expired, so this machine's clock is wrong.
    case wrongClock
    /// The calling task was canceled.
    case canceled

    /// Whether the push may have reached the service.
    public var mayHaveBeenDelivered: Bool {
        switch self {
        case .connectionLost, .timedOut, .canceled: true
        case .unreachable, .overloaded, .shuttingDown, .wrongClock: false
        }
    }

    /// The error's name for reports, without the transport's own text.
    package var name: String {
        switch self {
        case .unreachable: "unreachable"
        case .connectionLost: "connection-lost"
        case .timedOut: "timed-out"
        case .overloaded: "overloaded"
        case .shuttingDown: "shutting-down"
        case .wrongClock: "wrong-clock"
        case .canceled: "canceled"
        }
    }
}

extension PushTransportError: CustomStringConvertible {
    /// One sentence for an operator.
    public var description: String {
        switch self {
        case .unreachable(let words): "the push was not sent: \(words)"
        case .connectionLost(let words): "the connection ended, and the push may have been delivered: \(words)"
        case .timedOut: "no response came in time, and the push may have been delivered"
        case .overloaded: "the push was not sent, because too many are waiting"
        case .shuttingDown: "the push was not sent, because the transport is shutting down"
        case .wrongClock: "this machine's clock is wrong: the service rejects fresh credentials as expired"
        case .canceled: "the task that sent the push was canceled, and the push may have been delivered"
        }
    }
}
