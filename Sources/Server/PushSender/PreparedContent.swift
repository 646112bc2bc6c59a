/// Content that is checked and written for any number of devices; see ``Sealer/prepare(_:keeping:)``.
package struct PreparedContent: Sendable {
    let id: MessageID
    let collapseID: String?
    let expires: Timestamp?
    /// Whether the content has its own receipt, the same for each device, or can't have one.
    let hasOwnReceipt: Bool
    let isBackground: Bool
    /// The written content for each of the sealer's plans, or the reason that it doesn't fit.
    var written: [Result<WrittenContent, SealError>] = []

    /// Prepares content that is already complete.
    init(_ content: Content) throws(SealError) {
        guard let id = content.id else { throw .content(.missing("id")) }
        self.id = id
        collapseID = content.collapseID
        expires = content.expires
        hasOwnReceipt = content.hasOwnReceipt
        isBackground = content.isBackground
    }
}
