package import PushSender

/// A response of APNs. The connection that received it needs the status and the reason, which a ``PushOutcome`` for any sender
/// no longer has: some refusals are about the connection or its token.
package enum APNsAnswer: Hashable, Sendable {
    /// Status 200. Only Apple's development environment returns an `apns-unique-id`.
    case accepted(uniqueID: String?)
    case refused(APNsRefusal)

    package var outcome: PushOutcome {
        switch self {
        case .accepted(let uniqueID): .accepted(uniqueID: uniqueID)
        case .refused(let refusal): refusal.outcome
        }
    }
}
