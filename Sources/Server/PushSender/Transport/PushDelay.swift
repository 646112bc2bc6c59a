/// How long a push waits before it's sent again. All except `exactly` grow with each attempt; the sender chooses how.
public enum PushDelay: Hashable, Sendable {
    /// Wait for another connection. The push isn't the problem.
    case connection
    /// This device gets too many pushes.
    case device
    /// The service has problems.
    case service
    /// All pushes must wait.
    case everything
    /// Like `service`, but for a few attempts only, because the transport doesn't understand the response.
    case doubtful
    /// The time that the service requests.
    case exactly(Duration)
}
