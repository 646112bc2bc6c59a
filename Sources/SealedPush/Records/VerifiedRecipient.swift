/// A recipient that may be sealed to: it stands in a record that its pinned enrolment key has signed, the record has not
/// expired, and the device has proven that it holds the key.
///
/// Only ``EnrolledDevice`` makes one, so having one is the proof. It is about one moment: make it when it is needed, and
/// do not keep it.
public struct VerifiedRecipient: Hashable, Sendable {
    /// What to seal to.
    public let recipient: Recipient

    package init(_ recipient: Recipient) { self.recipient = recipient }
}
