public import SealedPush

/// Content that was moved out of a push; see ``Sealer/moveOverflow(of:at:for:)``.
public struct MovedContent: Sendable {
    /// The content to seal: the first part, which points to the whole content.
    public let content: Content
    /// The encrypted file to store unchanged before sending the push: at most 65,577 bytes.
    public let file: [UInt8]
}
