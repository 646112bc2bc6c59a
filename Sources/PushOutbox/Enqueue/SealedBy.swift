package import PushSender
public import SealedPush

/// By whose key a push was sealed that waits in an outbox.
public enum SealedBy: Hashable, Sendable {
    case sender(Sender)
    /// By nobody's: devices show such a push only where the app allows that.
    case anonymous
    /// An earlier version of this library has stored it, and did not note it. None is left after 30 days.
    case unknown

    package init(_ sealer: Sealer) { self = sealer.sender.map { .sender($0) } ?? .anonymous }
}

extension SealedBy: CustomStringConvertible {
    /// `pushsender1…`, `anonymous` or `unknown`.
    public var description: String {
        switch self {
        case .sender(let sender): sender.description
        case .anonymous: "anonymous"
        case .unknown: "unknown"
        }
    }

    /// Reads ``description``; nil for anything else.
    public init?(parsing text: String) {
        switch text {
        case "anonymous": self = .anonymous
        case "unknown": self = .unknown
        default:
            guard let sender = try? Sender(parsing: text) else { return nil }
            self = .sender(sender)
        }
    }
}
