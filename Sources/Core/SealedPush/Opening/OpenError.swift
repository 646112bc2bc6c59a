/// Why a push did not open. The codes are stable: logs, `--json` and receipts carry them.
///
/// They are for the app, its log and its operator. What a person sees is the same for all of them: the safe default.
/// Source: Specification 6.
public enum OpenError: String, Error, CaseIterable, Sendable {
    /// No field, no base64url, or no envelope.
    case malformed
    /// None of the device's keys matches the envelope's recipient hint.
    case unknownRecipient = "unknown-recipient"
    /// The device has not been unlocked since it started, and its keys can't be read.
    case locked
    /// The key store failed in another way.
    case keysUnavailable = "keys-unavailable"
    /// None of the trusted senders matches the envelope's sender hint.
    case unknownSender = "unknown-sender"
    /// A sealed box, which the app has not allowed.
    case anonymousNotAllowed = "anonymous-not-allowed"
    /// The tag is wrong under every key that was tried: altered, for another key, from a stranger, for another app.
    case rejected
    /// Opened, and not well-formed.
    case malformedContent = "malformed-content"
    /// Opened, and meant for another app.
    case topic
    /// Opened under a retired key, and sent more than two hours after that key was retired: by a sender who missed
    /// the new key, or by a thief of the old one.
    case keyRetired = "key-retired"
    /// Sent in the future.
    case clock
    /// Sent more than 30 days ago.
    case tooOld = "too-old"
    /// Past its own expiry.
    case expired
    /// Seen before, or too old for the ledger to know.
    case replayed
    /// The ledger could not be written in time.
    case ledgerUnavailable = "ledger-unavailable"
    /// The system's time ran out first.
    case outOfTime = "out-of-time"
}

extension OpenError: CustomStringConvertible {
    /// The code.
    public var description: String { rawValue }
}

extension Opener {
    /// Why an opener refuses an envelope: each ``OpenError`` of that name that needs neither a field, a ledger nor a
    /// limit of time. Source: Specification 6, steps 2 to 5.
    public enum Refusal: Error, CaseIterable, Sendable {
        case unknownRecipient, locked, keysUnavailable
        case unknownSender, anonymousNotAllowed, rejected
        case malformedContent, topic, keyRetired, clock, tooOld, expired
    }
}

extension OpenError {
    /// The reason of the same name.
    public init(_ refusal: Opener.Refusal) {
        self =
            switch refusal {
            case .unknownRecipient: .unknownRecipient
            case .locked: .locked
            case .keysUnavailable: .keysUnavailable
            case .unknownSender: .unknownSender
            case .anonymousNotAllowed: .anonymousNotAllowed
            case .rejected: .rejected
            case .malformedContent: .malformedContent
            case .topic: .topic
            case .keyRetired: .keyRetired
            case .clock: .clock
            case .tooOld: .tooOld
            case .expired: .expired
            }
    }
}

extension OpenError {
    /// What is fixed about each reason, said once.
    package struct Facts: Hashable, Sendable {
        /// How receipts count it: its place among their counts. Never used for another reason. Source: Specification 16.3.
        package let number: UInt8
        /// Which step of opening ends with it; nil for what may happen at any.
        package let step: Step?
        /// Who can put it right, as a rule.
        package let fault: Fault

        fileprivate init(_ number: UInt8, _ step: Step?, _ fault: Fault) {
            (self.number, self.step, self.fault) = (number, step, fault)
        }
    }

    /// The steps of opening, in their order. Stable, as the codes are. Source: Specification 6.
    public enum Step: String, Sendable, CaseIterable {
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

    package enum Fault: String, Sendable, CaseIterable {
        /// The sender's server: what it seals, to which keys, by which clock.
        case server
        /// The app: how it is configured, signed and built.
        case app
        /// Whoever carries pushes, or changes, forges or repeats them on their way.
        case carrier
        /// Nobody: it passes by itself.
        case nobody
    }

    package var facts: Facts {
        switch self {
        case .malformed: Facts(1, .envelope, .carrier)
        case .unknownRecipient: Facts(2, .recipient, .server)
        case .locked: Facts(3, .recipient, .nobody)
        case .keysUnavailable: Facts(4, .recipient, .app)
        case .unknownSender: Facts(5, .sender, .app)
        case .anonymousNotAllowed: Facts(6, .sender, .server)
        case .rejected: Facts(7, .unsealing, .carrier)
        case .malformedContent: Facts(8, .content, .server)
        case .topic: Facts(9, .topic, .server)
        case .keyRetired: Facts(10, .key, .server)
        case .clock: Facts(11, .clock, .server)
        case .tooOld: Facts(12, .age, .server)
        case .expired: Facts(13, .expiry, .server)
        case .replayed: Facts(14, .ledger, .carrier)
        case .ledgerUnavailable: Facts(15, .ledger, .app)
        case .outOfTime: Facts(16, nil, .app)
        }
    }

    package init?(receiptNumber: UInt8) {
        guard let found = Self.allCases.first(where: { $0.facts.number == receiptNumber }) else { return nil }
        self = found
    }
}
