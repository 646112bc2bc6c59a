public import SealedPush

/// Checks what devices post: the body of a request in, a receipt that one of the server's own devices has made out.
///
/// Counts nothing: hand the receipt to `Outbox.count(_:)`, or to what the server counts with, which must count each
/// ``ShownReceipt/number`` of a ``ShownReceipt/id`` once. About 3 µs; safe from many threads. Source: Specification 16.5.
public struct ReceiptReceiver: Sendable {
    private let keys: [ReceiptKey]

    /// - Parameter keys: those of all senders of the last 7 days, the present one first; at most 16 are tried.
    public init(keys: [ReceiptKey]) { self.keys = Array(keys.prefix(Self.maximumKeyCount)) }

    /// - Parameter body: the request's whole body. A server that reads no more than ``maximumByteCount`` + 1 bytes is safe.
    public func receive(_ body: [UInt8], at now: Timestamp) throws(ReceiptError) -> ShownReceipt {
        let id = try ReceiptBody.claimedID(of: body)
        for key in keys {
            let found = key.key(of: id).withUnsafeBytes { key in
                Result { () throws(ReceiptError) in try ReceiptBody(parsing: body, key: key) }
            }
            if case .failure(.rejected) = found { continue }
            let receipt = try found.get()
            guard now.seconds(since: receipt.created) <= Self.maximumAge else { throw .tooOld }
            guard receipt.created.seconds(since: now) <= Self.maximumLead else { throw .clock }
            return ShownReceipt(receipt)
        }
        throw .rejected
    }

    /// All receipts have as many bytes.
    public static let maximumByteCount = ReceiptBody.byteCount
    /// In seconds: 7 days.
    static let maximumAge: Int64 = 7 * 86_400
    /// In seconds, as for content: Specification 6.4.
    static let maximumLead: Int64 = 26 * 3_600
    private static let maximumKeyCount = 16
}
