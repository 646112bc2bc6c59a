package import SealedPush

/// A counted receipt as a database stores it, with the facts to keep about its device.
package struct ReceiptRow: Hashable, Sendable {
    package let id: ReceiptID
    package let number: [UInt8]
    /// The day under which the receipt's number is kept.
    package let numberDay: Int64
    /// When the receipt arrived, in milliseconds since 1970.
    package let arrived: Int64
    /// The reasons of the reported failures.
    package let reasons: [String]
    /// The number of failures counted for this receipt.
    package let failedCount: Int
    /// The new counts of the day on which it arrived.
    package let day: Int64
    package let dayShownCount: Int
    package let dayFailedCount: Int
}
