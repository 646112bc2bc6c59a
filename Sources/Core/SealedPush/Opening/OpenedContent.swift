/// Content that was opened. Only ``Opener`` creates it, so it proves that a message opened.
///
/// Detecting repeats is the job of the service module's ledger (Specification 7); a tool that opens without a ledger shows a
/// replay like any other message.
public struct OpenedContent: Sendable {
    /// The sealed content. Without a sender, it has no attachments, chart, person, receipt, template, or content in a file; its
    /// sound isn't critical, and its interruption level is at most `active`.
    public let content: Content
    /// The message's ID.
    public let id: MessageID
    /// The app's topic, which the tag covers.
    public let topic: Topic
    /// The time of sealing, by the sender's clock.
    public let sent: Timestamp
    /// The trusted sender that sealed it; nil if anyone could have sealed it.
    public let sender: SenderPublicKey?
    /// The device's key that opened it.
    public let recipient: DevicePublicKey
    /// The ID in the ledger: 32 bytes, the same for every copy of this envelope and different for any other message.
    package let ledgerKey: [UInt8]
}

extension OpenedContent {
    /// Returns the same message with its whole content from an encrypted file, or nil if that belongs to another message or
    /// isn't well-formed. Source: ContentParts 18.1.
    package func completed(by json: [UInt8]) -> OpenedContent? {
        guard var whole = try? Content(opening: json, maximumByteCount: Overflow.maximumContentByteCount),
            whole.id == id, whole.topic == topic, whole.sent == sent, whole.withdrawal == nil
        else { return nil }
        // Nesting isn't supported: a reference to a further file is ignored.
        whole.overflow = nil
        // The times were checked in the push.
        whole.expires = content.expires
        // One file may serve many devices, but a receipt belongs to one device.
        whole.receipt = content.receipt
        // The file can't show more than the push allows.
        whole.disclosure = max(whole.disclosure, content.disclosure)
        return OpenedContent(
            content: whole, id: id, topic: topic, sent: sent, sender: sender, recipient: recipient,
            ledgerKey: ledgerKey)
    }
}
