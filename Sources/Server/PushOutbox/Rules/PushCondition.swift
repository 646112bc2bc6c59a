/// A condition that selects pushes, waiting ones or dead letters.
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
    package var rows: RowCondition {
        switch self {
        case .all: RowCondition()
        case .expired(let time): RowCondition([.sendUntil: .isAtMost(time)])
        case .reason(let reason): RowCondition([.reason: .equals(reason)])
        case .anyReason(let other): RowCondition([.reason: .differs(from: other)])
        case .sealed(let sealedBy): RowCondition([.sender: .equals(sealedBy.description)])
        }
    }
}
