import PushCore
package import PushSender
package import SealedPush

/// Receipts from devices that are identified by a letter, as a server receives them.
package struct ReceivedReceipts: Sendable {
    package let key: ReceiptKey
    private let recipients = Locked<[String: DevicePublicKey]>([:])
    private let address = ReceiptAddress(parsing: "https://push.example.com/r")!

    package init(_ sender: SenderPrivateKey = SenderPrivateKey()) {
        key = ReceiptKey(of: sender, for: "com.example.app")
    }

    /// Returns the receipt request in a message to this device.
    package func request(_ device: String) -> ReceiptRequest {
        let recipient = recipients.withLock { recipients in
            let recipient = recipients[device] ?? DevicePrivateKey().recipient
            recipients[device] = recipient
            return recipient
        }
        return key.request(recipient, to: address)
    }

    package func bytes(
        _ device: String, failures: [OpenError: Int] = [:], elapsed: Duration = .milliseconds(200),
        message: MessageID = .random(), at created: Timestamp
    ) -> [UInt8] {
        bytes(request(device), failures: failures, elapsed: elapsed, message: message, at: created)
    }

    /// Returns the bytes that a device with this request posts.
    package func bytes(
        _ request: ReceiptRequest, failures: [OpenError: Int] = [:], elapsed: Duration = .milliseconds(200),
        message: MessageID = .random(), at created: Timestamp
    ) -> [UInt8] {
        var counts = [UInt16](repeating: 0, count: ReceiptBody.reasonCount)
        for (reason, count) in failures { counts[Int(reason.facts.number) - 1] = UInt16(count) }
        let (seconds, attoseconds) = elapsed.components
        return ReceiptBody(
            id: request.id, number: ReceiptBody.number(of: message, key: request.key), created: created,
            elapsedMilliseconds: UInt32(seconds * 1_000 + attoseconds / 1_000_000_000_000_000), counts: counts
        ).bytes(key: request.key)
    }

    /// Returns the bytes in which a receipt without failures arrived.
    package func bytes(_ device: String, of receipt: ShownReceipt) -> [UInt8] {
        let request = request(device)
        return ReceiptBody(
            id: request.id, number: receipt.number, created: receipt.created,
            elapsedMilliseconds: UInt32(receipt.elapsed / .milliseconds(1)),
            counts: [UInt16](repeating: 0, count: ReceiptBody.reasonCount)
        ).bytes(key: request.key)
    }

    package func receipt(
        _ device: String, failures: [OpenError: Int] = [:], elapsed: Duration = .milliseconds(200),
        message: MessageID = .random(), at created: Timestamp
    ) throws -> ShownReceipt {
        let bytes = bytes(device, failures: failures, elapsed: elapsed, message: message, at: created)
        return try ReceiptReceiver(keys: [key]).receive(bytes, at: created)
    }
}
