internal import PushCore

/// The JSON of content, with a place for each device's receipt.
struct WrittenContent: Sendable {
    /// The size including a device's receipt.
    let byteCount: Int
    /// The size including the padding that the suite and the sealer's policy require.
    var plaintextByteCount = 0
    private let json: [UInt8]
    private let receiptPlace: Int

    /// - Parameter receiptByteCount: The size of a device's receipt, or 0 if none is added.
    init(_ content: Content, receiptByteCount: Int) {
        (json, receiptPlace) = content.hasOwnReceipt ? (content.json, 0) : content.jsonWithoutReceipt
        byteCount = json.count + receiptByteCount
    }

    /// Returns the content's JSON, padded. Source: Specification 4.1.
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
