package import PushSender
public import SealedPush

/// The key that sealed a push in an outbox.
public enum SealedBy: Hashable, Sendable {
    /// A sender's key, which devices authenticate.
    case sender(SenderPublicKey)
    /// No sender key. Devices show such a push only if the app allows it.
    case anonymous

    package init(_ sealer: Sealer) { self = sealer.sender.map { .sender($0) } ?? .anonymous }
}

extension SealedBy: CustomStringConvertible {
    /// The sender's public key, `pushsender1…`, or `anonymous`.
    public var description: String {
        switch self {
        case .sender(let sender): sender.description
        case .anonymous: "anonymous"
        }
    }

    /// Parses ``description``; returns `nil` for any other text.
    public init?(parsing text: String) {
        if text == "anonymous" {
            self = .anonymous
        } else {
            guard let sender = try? SenderPublicKey(parsing: text) else { return nil }
            self = .sender(sender)
        }
    }
}
