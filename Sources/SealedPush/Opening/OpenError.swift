/// Why a push did not open. The codes are stable: logs, `--json` and receipts carry them.
///
/// They are for the app, its log and its operator. What a person sees is the same for all of them: the safe default.
/// Source: Specification 6.
public enum OpenError: String, Error, CaseIterable, Sendable {
    /// No field, no base64url, or no envelope.
    case malformed
    /// None of the device's keys has the envelope's recipient key ID.
    case unknownRecipient = "unknown-recipient"
    /// The device has not been unlocked since it started, and its keys can't be read.
    case locked
    /// The key store failed in another way.
    case keysUnavailable = "keys-unavailable"
    /// None of the trusted senders has the envelope's sender key ID.
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
