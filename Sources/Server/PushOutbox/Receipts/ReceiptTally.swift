/// The names of the outcomes that receipts are counted under, alongside those of pushes.
package enum ReceiptTally {
    /// The tables with rows per device.
    package static let tables = ["receipt_devices", "receipt_numbers", "receipt_failures"]
    /// The common prefix of all names.
    static let prefix = "receipt:"
    package static let shown = prefix + "shown"
    package static let repeated = prefix + "repeated"
    package static let otherReason = "other"
    package static let tooMany = "too-many"
    package static func failed(_ reason: String) -> String { "\(prefix)failed:\(reason)" }
    package static func refused(_ reason: String) -> String { "\(prefix)refused:\(reason)" }

    /// Returns the name for the first limit that the time doesn't exceed.
    package static func speed(_ elapsed: Duration) -> String {
        let limit = ReceiptDay.speedLimits.first { elapsed <= $0 }
        return "\(prefix)within:\(limit.map { String($0.milliseconds) } ?? "more")"
    }
}
