public import SealedPush

/// The keys of a keyring that match an envelope's hints, or nil for no match. A match isn't proof.
public struct MatchedKeys: Equatable, Sendable {
    /// The device key that matches the recipient hint.
    public let recipient: DevicePublicKey?
    /// The name of the device that matches the recipient hint.
    public let device: KeyName?
    /// The sender key that matches the sender hint.
    public let sender: SenderPublicKey?
    /// The sender's name, or nil if only a trust list or a sender set contains the key.
    public let senderName: KeyName?
}
