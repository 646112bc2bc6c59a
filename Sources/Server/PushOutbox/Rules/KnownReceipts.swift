/// The facts about a receipt and its device that a store looks up before it counts the receipt.
package struct KnownReceipts: Sendable {
    /// Whether a receipt with the same device and number was counted before.
    let includesReceipt: Bool
    /// How many receipts and failures of the device were counted on the day of ``ReceiptCount/day(of:)``.
    let dayShownCount: Int
    let dayFailedCount: Int
}

extension KnownReceipts {
    /// The row has the columns `is_known`, `shown`, and `failed`.
    package init(_ row: some OutboxRow) throws(OutboxError) {
        self.init(
            includesReceipt: try row.bool("is_known"), dayShownCount: try row.count("shown"),
            dayFailedCount: try row.count("failed"))
    }
}
