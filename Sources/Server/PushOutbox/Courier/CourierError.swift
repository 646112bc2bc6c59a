/// The reason why a courier stopped early. Undelivered pushes are still waiting.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CourierError: Error, Equatable, Sendable {
    /// The service refuses the sender, its key, or the app, and the transport says why. No push can be delivered until an
    /// operator has corrected it.
    case senderRefused(reason: String, problem: String?)
    /// One push after another was refused for a reason that may concern all of them, and none was accepted. The addresses
    /// refused first are disabled; `Outbox.retry(reason:)` reenables them.
    case allRefused(reason: String, problem: String)
    /// This machine's clock is wrong: the service reports fresh credentials as expired.
    case wrongClock
    /// The transport has been shut down.
    case transportShutDown
    /// The outbox can't be used.
    case outbox(OutboxError)
}

extension CourierError: CustomStringConvertible {
    /// A one-sentence description for people.
    public var description: String {
        switch self {
        case .senderRefused(let reason, let problem): problem ?? "the service refuses this sender (\(reason))"
        case .allRefused(_, let problem): problem
        case .wrongClock: "this machine's clock is wrong: the service reports fresh credentials as expired"
        case .transportShutDown: "the transport has been shut down"
        case .outbox(let error): error.description
        }
    }
}
