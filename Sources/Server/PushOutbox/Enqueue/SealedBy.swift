package import PushSender
public import SealedPush

/// By whose key a push was sealed that waits in an outbox.
public enum SealedBy: Hashable, Sendable {
    case sender(SenderPublicKey)
    /// By nobody's: devices show such a push only where the app allows that.
    case anonymous

    package init(_ sealer: Sealer) { self = sealer.sender.map { .sender($0) } ?? .anonymous }
}

extension SealedBy: CustomStringConvertible {
    /// `pushsender1…` or `anonymous`.
    public var description: String {
        switch self {
        case .sender(let sender): sender.description
        case .anonymous: "anonymous"
        }
    }

    /// Reads ``description``; nil for anything else.
    public init?(parsing text: String) {
        switch text {
        case "anonymous": self = .anonymous
        default:
            guard let sender = try? SenderPublicKey(parsing: text) else { return nil }
            self = .sender(sender)
        }
    }
}
