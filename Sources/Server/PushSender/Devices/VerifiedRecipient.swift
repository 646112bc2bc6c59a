public import SealedPush

/// A recipient that can be sealed to: its record is signed by the pinned key and hasn't expired, and its key is proven.
///
/// Only ``EnrolledDevice`` creates one, so having one is the proof. It's momentary: create one when needed; don't keep it.
public struct VerifiedRecipient: Hashable, Sendable {
    /// The key to seal to.
    public let recipient: DevicePublicKey
    /// How many days the device keeps the key after retiring it, or nil if no record specifies it.
    package let keeps: Int?

    package init(_ recipient: DevicePublicKey, keeps: Int?) { (self.recipient, self.keeps) = (recipient, keeps) }
}
