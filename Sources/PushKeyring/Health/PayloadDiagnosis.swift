public import SealedPush

/// Why a payload does not open on a device, step by step: what ``Keyring/diagnose(_:for:topic:trusting:allowsAnonymous:at:)``
/// finds.
///
/// Codes, IDs, names and times only; nothing of the content. Source: Specification 6.
public struct PayloadDiagnosis: Hashable, Sendable {
    /// All of them, in the order of opening.
    public let steps: [Step]
    /// Nil where it opens.
    public let refusal: OpenError?
    /// What to do.
    public let advice: String
    /// What is known of the message; nil where it could not be unsealed.
    public let message: Message?

    /// `opened`, or the stable code of the refusal.
    public var code: String { refusal?.rawValue ?? "opened" }

    public struct Step: Hashable, Sendable {
        public let name: Name
        public let outcome: Outcome
        /// One sentence.
        public let words: String

        public enum Outcome: String, Sendable {
            case passed, failed
            case notReached = "not-reached"
        }

        /// Stable, as the codes are.
        public enum Name: String, Sendable, CaseIterable {
            /// The field, its base64url and the header.
            case envelope
            /// The device's keys.
            case recipient
            /// Whether the sender is believed.
            case sender
            /// Whether the tag holds.
            case unsealing
            case content
            case topic
            /// Whether a retired key still opens it.
            case key
            case clock
            case age
            case expiry
            /// Whether it was seen before, which only a device knows.
            case ledger
        }
    }

    /// What a message says about itself, besides its content.
    public struct Message: Hashable, Sendable {
        public let id: MessageID?
        public let topic: Topic?
        public let sent: Timestamp?
        public let expires: Timestamp?
        /// Under which key it was unsealed.
        public let recipient: Recipient
        /// Who sealed it; nil where anybody may have.
        public let sender: Sender?
    }
}

extension OpenError {
    /// The step that fails with this code; nil for what only happens on a device.
    var step: PayloadDiagnosis.Step.Name? {
        switch self {
        case .malformed: .envelope
        case .unknownRecipient, .locked, .keysUnavailable: .recipient
        case .unknownSender, .anonymousNotAllowed: .sender
        case .rejected: .unsealing
        case .malformedContent: .content
        case .topic: .topic
        case .keyRetired: .key
        case .clock: .clock
        case .tooOld: .age
        case .expired: .expiry
        case .replayed, .ledgerUnavailable: .ledger
        case .outOfTime: nil
        }
    }
}
