/// Why a challenge is not answered, or an answer proves nothing. The codes are stable. Never holds any of the input.
///
/// Source: Specification 11.5.
public enum ChallengeError: String, Error, CaseIterable, Sendable {
    /// Not in the form of a challenge, or of an answer.
    case malformed
    /// None of the device's active keys has the challenge's recipient key ID.
    case unknownRecipient = "unknown-recipient"
    /// The device has not been unlocked since it started, and its keys can't be read.
    case locked
    /// The key store failed in another way.
    case keysUnavailable = "keys-unavailable"
    /// None of the trusted senders has the challenge's sender key ID.
    case unknownSender = "unknown-sender"
    /// It does not open: altered, for another key, from a stranger, for another app, or no challenge.
    case rejected
    /// The challenge is about another device's enrollment.
    case foreignEnrollment = "foreign-enrollment"
    /// The challenge's recipient is not in the device's record, or no longer.
    case notInRecord = "not-in-record"
    /// More than ten minutes after the challenge was made.
    case late
    /// Not the answer to this challenge.
    case wrongAnswer = "wrong-answer"
}

extension ChallengeError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .malformed:
            "this is not well-formed: a challenge begins with pushchallenge. and an answer with pushanswer."
        case .unknownRecipient: "the challenge is for a key that this device does not have, or no longer uses"
        case .locked: "the keys can't be read until the device has been unlocked once"
        case .keysUnavailable: "the keys can't be read"
        case .unknownSender: "the challenge comes from a sender that is not trusted here"
        case .rejected: "the challenge does not open: altered, for another key or app, or not from the sender it names"
        case .foreignEnrollment:
            "the challenge is about another device's enrollment: somebody may be trying to enroll this device's key as theirs"
        case .notInRecord: "the challenge's recipient is not in the device's newest record: make a new challenge"
        case .late: "the answer came more than ten minutes after the challenge: make a new one"
        case .wrongAnswer: "this is not the answer to the challenge"
        }
    }
}
