public import SealedPush

/// The reason that content wasn't sealed. It contains no content.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum SealError: Error, Equatable, Sendable {
    /// The content JSON is this many bytes too large for one push.
    case tooLarge(byteCountOver: Int)
    /// The content itself can't be sealed.
    case content(ContentError)
    /// The content's topic differs from the sealer's.
    case otherTopic
    /// A withdrawal needs a sender, because devices reject anonymous ones.
    case anonymousWithdrawal
    /// The recipient's key is hybrid, and the anonymous suite can't seal to hybrid keys.
    case anonymousToHybrid
    /// The recipient's key isn't hybrid, and the sealer requires hybrid keys.
    case notHybrid
    /// The content expires too late for a device that keeps retired keys for this many days.
    case expiresTooLate(days: Int)
}

extension SealError: CustomStringConvertible {
    /// A sentence for an operator.
    public var description: String {
        switch self {
        case .tooLarge(let over): "the content is \(over) bytes too large for one push"
        case .content(let error): error.description
        case .anonymousWithdrawal: "a withdrawal needs a sender, because devices reject anonymous ones"
        case .anonymousToHybrid: "a device with a hybrid key rejects anonymous messages; seal with a sender's key"
        case .notHybrid: "the device's key isn't hybrid, and this sender requires hybrid keys"
        case .expiresTooLate(let days):
            "the content expires too late; the device keeps a retired key for only \(days) days"
        case .otherTopic: "the content's topic isn't the one it is sealed for"
        }
    }
}
