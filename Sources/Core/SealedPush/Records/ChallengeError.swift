/// A reason why a challenge isn't answered, or an answer isn't proof. The codes are stable. Contains no part of the input.
/// Source: Specification 11.5.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ChallengeError: String, Error, CaseIterable, Sendable {
    /// Not in the form of a challenge or an answer.
    case malformed
    /// None of the device's active keys matches the challenge's recipient hint.
    case unknownRecipient = "unknown-recipient"
    /// The device hasn't been unlocked since it started, so its keys can't be read.
    case locked
    /// The key store failed in another way.
    case keysUnavailable = "keys-unavailable"
    /// None of the trusted senders matches the challenge's sender hint.
    case unknownSender = "unknown-sender"
    /// It doesn't open: altered, for another key or app, from a stranger, or not a challenge.
    case rejected
    /// The challenge is about another device's enrollment.
    case foreignEnrollment = "foreign-enrollment"
    /// The challenge's recipient isn't in the device's record, or no longer is.
    case notInRecord = "not-in-record"
    /// More than ten minutes passed since the challenge was created.
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
        case .rejected:
            "the challenge doesn't open; it was altered, is for another key or app, or isn't from the sender it names"
        case .foreignEnrollment:
            "the challenge is about another device's enrollment; someone may be trying to enroll this device's key as theirs"
        case .notInRecord: "the challenge's recipient isn't in the device's newest record; create a new challenge"
        case .late: "the answer came more than ten minutes after the challenge; create a new challenge"
        case .wrongAnswer: "this is not the answer to the challenge"
        }
    }
}
