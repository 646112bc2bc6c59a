public import SealedPush

/// The keys of a keyring that match an envelope's hints, or nil for no match. A match isn't proof.
public struct MatchedKeys: Equatable, Sendable {
    public let recipient: DevicePublicKey?
    /// The name of the device that matches the recipient hint.
    public let device: KeyName?
    public let sender: SenderPublicKey?
    /// The sender's name, or nil if only a trust list or a sender set contains the key.
    public let senderName: KeyName?
}
