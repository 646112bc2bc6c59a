internal import PushCore
public import SealedPush

/// Checks the receipts that devices post: it turns a request's body into a receipt from one of the server's own devices.
///
/// A receiver doesn't count receipts. Pass them to `Outbox.count(_:)` or your own counter, which must count each
/// ``ShownReceipt/number`` of a ``ShownReceipt/id`` once. Takes about 3 µs; thread-safe. Source: Specification 16.5.
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
            guard now.seconds(since: receipt.created) <= Self.maximumAge else { throw .tooOld }
            guard receipt.created.seconds(since: now) <= Self.maximumLead else { throw .clock }
            return ShownReceipt(receipt)
        }
        throw .rejected
    }

    /// The number of bytes in every receipt.
    public static let maximumByteCount = ReceiptBody.byteCount
    /// In seconds: 7 days.
    static let maximumAge: Int64 = 7 * 86_400
    /// In seconds, the same as for content; see Specification 6.4.
    static let maximumLead: Int64 = 26 * 3_600
    private static let maximumKeyCount = 16
}

/// The key from which the IDs and keys of all devices' receipts are derived, so that a server doesn't store them.
///
/// It's derived from the sender's key but reveals nothing about it. Safe to share between threads. Takes 22 µs and four
/// pages of memory, wiped with the last reference. Source: Specification 16.4; Docs/Decisions/0026-receipts.md.
public final class ReceiptKey: Sendable {
    private let secret: GuardedSecret

    /// Derives the key for a sender's messages to one app.
    public init(of sender: SenderPrivateKey, for topic: Topic) {
        secret = sender.derived("sealedpush/v1 receipts", for: topic.description)
    }

    /// Returns the ID of receipts from the device with this key.
    public func id(of recipient: DevicePublicKey) -> ReceiptID {
        ReceiptID(hash("id", recipient.bytes, byteCount: ReceiptID.byteCount))
    }

    /// Returns the receipt request for a message to a device. Takes about 2 µs.
    public func request(_ recipient: DevicePublicKey, to address: ReceiptAddress) -> ReceiptRequest {
        let id = id(of: recipient)
        return ReceiptRequest(address: address, id: id, key: key(of: id))
    }

    /// Returns the 32-byte MAC key of the device with this ID.
    func key(of id: ReceiptID) -> [UInt8] { hash("key", id.bytes, byteCount: ReceiptRequest.keyByteCount) }

    private func hash(_ label: StaticString, _ bytes: [UInt8], byteCount: Int) -> [UInt8] {
        var message: [UInt8] = []
        label.withUTF8Buffer { message.append(contentsOf: $0) }
        message.append(0)
        message += bytes
        return secret.withBytes { BLAKE2b.hash(message, key: $0, byteCount: byteCount) }
    }
}

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
    /// The number of failures for reasons that only a later version defines: at most 65,535 for each of the nine.
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
