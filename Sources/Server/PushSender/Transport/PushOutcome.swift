public import SealedPush

/// What became of a push, as its transport understands the service's answer.
///
/// Each service has reasons of its own. A transport says what they mean; nobody else has to know them.
public enum PushOutcome: Hashable, Sendable {
    /// The service has taken it. Whether it reaches the device, nobody says.
    ///
    /// - Parameter uniqueID: the service's own name for it, where it says one: `apns-unique-id`, in Apple's sandbox.
    case accepted(uniqueID: String?)
    /// The address has not been any good since a moment: drop the push, and the address unless it was registered after that.
    case gone(since: Timestamp, PushReason)
    /// The service will not deliver to this address: use it no more until somebody has looked.
    case refused(PushReason)
    /// Nothing is wrong with the push: send it again, later.
    case later(PushDelay, PushReason)
    /// The push itself can't be delivered as it is: a mistake in the request.
    case change(PushReason)
    /// Nothing can be delivered until an operator has corrected something: stop, and say so.
    case stop(PushReason)

    /// Nil where it was accepted.
    public var reason: PushReason? {
        switch self {
        case .accepted: nil
        case .gone(_, let reason), .refused(let reason), .later(_, let reason), .change(let reason), .stop(let reason):
            reason
        }
    }
}

/// Why a push was not taken.
public struct PushReason: Hashable, Sendable {
    /// The service's word for it, for reports and dead letters: at most 64 characters.
    public let name: String
    /// What is likely wrong with all pushes, as a sentence for an operator: where ``PushOutcome/stop(_:)`` is for this
    /// reason, and where one push after another has it, and none is taken. Nil where it says nothing about others.
    public let problem: String?

    public init(_ name: String, problem: String? = nil) {
        self.name = String(name.prefix(64))
        self.problem = problem
    }
}

/// How long a push waits before it is sent again. All but `exactly` grow with each attempt; how long they are is the
/// sender's choice.
public enum PushDelay: Hashable, Sendable {
    /// For another connection: it is not about this push.
    case connection
    /// For this one device, which gets too many.
    case device
    /// For the service, which has trouble.
    case service
    /// All pushes wait.
    case everything
    /// As `service`, but a few times only: the transport does not know what the service means.
    case doubtful
    /// As long as the service asks for.
    case exactly(Duration)
}
