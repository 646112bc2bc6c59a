public import SealedPush

/// A device's word that it has shown a message, and how many did not open before it. Only a ``ReceiptReceiver`` makes one.
public struct ShownReceipt: Hashable, Sendable {
    public let id: ReceiptID
    /// 16 bytes, the same whenever a receipt about this message comes from this device: count each pair of ``id`` and
    /// number once. A number by itself proves nothing: a device may claim any, also another one's.
    public let number: [UInt8]
    /// When the message was shown, by the device's clock.
    public let created: Timestamp
    /// From the call of the extension until it was shown.
    public let elapsed: Duration
    /// What did not open since the last receipt, by reason: the device's own word, at most 65,535 for each.
    public let failures: [OpenError: Int]
    /// Likewise, for reasons that only a later version knows: at most 65,535 for each of the nine.
    public let otherFailureCount: Int

    init(_ body: ReceiptBody) {
        id = body.id
        number = body.number
        created = body.created
        elapsed = .milliseconds(body.elapsedMilliseconds)
        var failures: [OpenError: Int] = [:]
        var others = 0
        for (index, count) in body.counts.enumerated() where count > 0 {
            if let reason = OpenError(receiptNumber: UInt8(index + 1)) {
                failures[reason] = Int(count)
            } else {
                others += Int(count)
            }
        }
        self.failures = failures
        otherFailureCount = others
    }
}
