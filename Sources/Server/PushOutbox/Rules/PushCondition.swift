/// A condition that selects pushes, waiting ones or dead letters. A store turns it into SQL.
package enum PushCondition: Hashable, Sendable {
    case all
    /// Pushes that have expired at this time, in milliseconds since 1970.
    case expired(at: Int64)
    /// Dead letters with this reason.
    case reason(String)
    /// Dead letters with any other reason.
    case anyReason(except: String)
    case sealed(by: SealedBy)
}

extension PushCondition {
    /// Whether the condition selects a push with these columns. `reason` is `nil` for a push that waits.
    package func selects(sendUntil: Int64, sender: String?, reason: String?) -> Bool {
        switch self {
        case .all: true
        case .expired(let time): sendUntil <= time
        case .reason(let wanted): reason == wanted
        case .anyReason(let other): reason.map { $0 != other } ?? false
        case .sealed(let sealedBy): sender == sealedBy.description
        }
    }
}
