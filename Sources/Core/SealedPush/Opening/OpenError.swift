/// The reason why a push didn't open. The codes are stable: logs, `--json`, and receipts contain them.
///
/// They are for the app, its log, and its operator. A person always sees the safe default. Source: Specification 6.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum OpenError: String, Error, CaseIterable, Sendable {
    /// The field is missing, isn't base64url, or isn't an envelope.
    case malformed
    /// Sealed by a newer version: this one doesn't know the suite.
    case unknownSuite = "unknown-suite"
    /// None of the device's keys matches the envelope's recipient hint.
    case unknownRecipient = "unknown-recipient"
    /// The device hasn't been unlocked since it started, so its keys can't be read.
    case locked
    /// The key store failed in another way.
    case keysUnavailable = "keys-unavailable"
    /// None of the trusted senders matches the envelope's sender hint.
    case unknownSender = "unknown-sender"
    /// A sealed box, which the app hasn't allowed.
    case anonymousNotAllowed = "anonymous-not-allowed"
    /// The tag is wrong under every key that was tried: altered, for another key, from a stranger, or for another app.
    case rejected
    /// The message opened, but its content isn't well-formed.
    case malformedContent = "malformed-content"
    /// The message opened, but is for another app.
    case topic
    /// The message opened under a retired key, but was sent more than two hours after that key was retired: by a sender
    /// that missed the new key, or by someone who stole the old one.
    case keyRetired = "key-retired"
    /// Sent in the future.
    case clock
    /// Sent more than 30 days ago.
    case tooOld = "too-old"
    /// Past its expiry.
    case expired
    /// Seen before, or too old for the ledger to tell.
    case replayed
    /// The ledger couldn't be written in time.
    case ledgerUnavailable = "ledger-unavailable"
    /// The system's time limit was reached first.
    case outOfTime = "out-of-time"
}

extension OpenError: CustomStringConvertible {
    /// The code.
    public var description: String { rawValue }
}

extension OpenError {
    /// The fixed facts about each reason, in one place.
    package struct Facts: Hashable, Sendable {
        /// The index of its count in receipts. Never reused for another reason. Source: ContentParts 16.3.
        package let number: UInt8
        /// The step of opening that fails for this reason; nil if any step can.
        package let step: Step?
        /// The party that can usually fix it.
        package let fault: Fault

        fileprivate init(_ number: UInt8, _ step: Step?, _ fault: Fault) {
            (self.number, self.step, self.fault) = (number, step, fault)
        }
    }

    /// The steps of opening, in order. Stable, as the codes are. Source: Specification 6.
    public enum Step: String, Sendable, CaseIterable {
        /// The field, its base64url, and the header.
        case envelope
        /// The device's keys.
        case recipient
        /// Whether the sender is trusted.
        case sender
        /// Whether the tag is valid.
        case unsealing
        /// Whether the plaintext is valid content.
        case content
        /// Whether the content is for this app.
        case topic
        /// Whether a retired key still opens it.
        case key
        /// Whether the time of sealing is plausible.
        case clock
        /// Whether the message is recent enough.
        case age
        /// Whether the message has expired.
        case expiry
        /// Whether it was seen before, which only a device knows.
        case ledger
    }

    package enum Fault: String, Sendable, CaseIterable {
        /// The sender's server: the content, keys, and clock with which it seals.
        case server
        /// The app: its configuration, signing, and build.
        case app
        /// Those who transport pushes, or who alter, forge, or repeat them in transit.
        case carrier
        /// No one: it resolves itself.
        case nobody
    }

    package var facts: Facts {
        switch self {
        case .malformed: Facts(1, .envelope, .carrier)
        case .unknownSuite: Facts(17, .envelope, .server)
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

    package init(_ error: EnvelopeError) {
        if case .unknownSuite = error { self = .unknownSuite } else { self = .malformed }
    }

    package init?(receiptNumber: UInt8) {
        guard let found = Self.allCases.first(where: { $0.facts.number == receiptNumber }) else { return nil }
        self = found
    }
}
