public import SealedPush

/// Checks the receipts that devices post: it turns a request's body into a receipt from one of the server's own devices.
///
/// A receiver doesn't count receipts. Pass them to `Outbox.count(_:)` or your own counter, which must count each
/// ``ShownReceipt/number`` of a ``ShownReceipt/id`` once. Takes about 3 µs; thread-safe. Source: ContentParts 16.5.
public struct ReceiptReceiver: Sendable {
    private let keys: [ReceiptKey]

    /// - Parameter keys: The keys of all senders of the last 7 days, the current one first. At most 16 are tried.
    public init(keys: [ReceiptKey]) { self.keys = Array(keys.prefix(Self.maximumKeyCount)) }

    /// Returns the possible IDs of receipts from the device with this key.
    package func ids(of recipient: DevicePublicKey) -> [ReceiptID] { keys.map { $0.id(of: recipient) } }

    /// Checks a receipt.
    ///
    /// - Parameters:
    ///   - body: The request's whole body. It's safe to read no more than ``maximumByteCount`` + 1 bytes of it.
    ///   - now: The current time.
    public func receive(_ body: [UInt8], at now: Timestamp) throws(ReceiptError) -> ShownReceipt {
        let id = try ReceiptBody.claimedID(of: body)
        for key in keys {
            let found = key.key(of: id).withUnsafeBytes { key in
                Result { () throws(ReceiptError) in try ReceiptBody(parsing: body, key: key) }
            }
            if case .failure(.rejected) = found { continue }
            let receipt = try found.get()
            guard now.seconds(since: receipt.created) <= ReceiptBody.maximumAge else { throw .tooOld }
            guard receipt.created.seconds(since: now) <= TimeRules.maximumLead(isAnonymous: false) else { throw .clock }
            return ShownReceipt(receipt)
        }
        throw .rejected
    }

    /// The number of bytes in every receipt.
    public static let maximumByteCount = ReceiptBody.byteCount
    private static let maximumKeyCount = 16
}
