public import SealedPush

/// The result of a push, as its transport understands the service's response. Each service has its own reasons, and only its
/// transport needs to know what they mean.
public enum PushOutcome: Hashable, Sendable {
    /// The service accepted the push. That doesn't mean that it reaches the device.
    ///
    /// - Parameter uniqueID: The service's ID for the push, if it returns one: `apns-unique-id`, in Apple's sandbox.
    case accepted(uniqueID: String?)
    /// The address has been invalid since that time. Drop the push, and the address unless it was registered later.
    case gone(since: Timestamp, PushReason)
    /// The service won't deliver to this address. Don't use it again until an operator has looked into it.
    case addressRefused(PushReason)
    /// The push itself is fine. Send it again later.
    case later(PushDelay, PushReason)
    /// The push can't be delivered as it is, because the request is wrong.
    case change(PushReason)
    /// Nothing can be delivered until an operator corrects a problem. Stop, and report it.
    case stop(PushReason)

    /// The reason that the push wasn't accepted, or nil if it was.
    public var reason: PushReason? {
        switch self {
        case .accepted: nil
        case .gone(_, let reason), .addressRefused(let reason), .later(_, let reason), .change(let reason),
            .stop(let reason):
            reason
        }
    }
}
