/// Content that has opened: only ``Opener`` makes one, so having one is the proof.
///
/// Whether it was seen before is for the service module's ledger (Specification 7); a tool that opens without one shows
/// a replay like anything else.
public struct OpenedContent: Sendable {
    /// What was sealed. For an anonymous sender without attachments and receipt, and never above active.
    public let content: Content
    public let id: MessageID
    public let topic: Topic
    public let sent: Timestamp
    /// The trusted sender who sealed it; nil where anybody may have.
    public let sender: SenderPublicKey?
    /// The device's key under which it opened.
    public let recipient: DevicePublicKey
    /// What the ledger knows it by: 32 bytes, the same for every copy of this envelope and for no other message.
    package let ledgerKey: [UInt8]
}

extension OpenedContent {
    /// The same message with its whole content, which lay in an encrypted file; nil where that is another's, or not
    /// well-formed. Source: Specification 14.5.
    package func completed(by json: [UInt8]) -> OpenedContent? {
        guard var whole = try? Content(opening: json, maximumByteCount: Overflow.maximumContentByteCount),
            whole.id == id, whole.topic == topic, whole.sent == sent, whole.withdrawal == nil
        else { return nil }
        // Not nested: what it says about a further file is not followed.
        whole.overflow = nil
        // One file may serve many devices; a receipt is one device's.
        whole.receipt = content.receipt
        return OpenedContent(
            content: whole, id: id, topic: topic, sent: sent, sender: sender, recipient: recipient,
            ledgerKey: ledgerKey)
    }
}
