internal import PushCore
internal import SealedPush

/// Content that is checked and written, for any number of devices: see ``Sealer/prepare(_:)``.
package struct PreparedContent: Sendable {
    let id: MessageID
    let collapseID: String?
    let expires: Timestamp?
    /// Whether it came with a receipt, which then is the same for each device.
    let hasOwnReceipt: Bool
    /// Of the content of each device, with its receipt.
    let byteCount: Int
    /// With the padding: the sealer's choice.
    var plaintextByteCount: Int
    private let json: [UInt8]
    private let receiptPlace: Int

    /// - Parameter receiptByteCount: what a device's receipt takes; 0 where none is added.
    init(_ content: Content, id: MessageID, receiptByteCount: Int) {
        self.id = id
        collapseID = content.collapseID
        expires = content.expires
        hasOwnReceipt = content.receipt != nil
        (json, receiptPlace) = hasOwnReceipt ? (content.json, 0) : content.jsonWithoutReceipt
        byteCount = json.count + receiptByteCount
        plaintextByteCount = byteCount
    }

    /// The content's JSON, padded. Source: Specification 4.1.
    func plaintext(with receipt: ReceiptRequest?) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(plaintextByteCount)
        bytes += json[..<receiptPlace]
        if let receipt { bytes += receipt.jsonMember }
        bytes += json[receiptPlace...]
        let contentByteCount = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: plaintextByteCount - contentByteCount))
        bytes.withUnsafeMutableBytes { Padding.pad($0, contentByteCount: contentByteCount) }
        return bytes
    }
}
