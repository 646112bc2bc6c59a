public import SealedPush

/// A device's claim that it has shown a message, and how many failed to open before. Only a ``ReceiptReceiver`` creates one.
public struct ShownReceipt: Hashable, Sendable {
    /// The ID of the device's receipts.
    public let id: ReceiptID
    /// The receipt's number: 16 bytes, the same for every receipt from this device for this message. Count each pair of ``id``
    /// and number once. The number alone proves nothing, because a device can claim any number, even another device's.
    public let number: [UInt8]
    /// The time at which the message was shown, by the device's clock.
    public let created: Timestamp
    /// The time from the extension's start until the message was shown.
    public let elapsed: Duration
    /// The messages that failed to open since the last receipt, by reason, as the device claims: at most 65,535 for each.
    public let failures: [OpenError: Int]
    /// The number of failures for reasons that only a later version defines: at most 65,535 for each.
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
