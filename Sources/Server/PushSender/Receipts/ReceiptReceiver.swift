internal import PushCore
public import SealedPush

/// Checks what devices post: the body of a request in, a receipt that one of the server's own devices has made out.
///
/// Counts nothing: hand the receipt to `Outbox.count(_:)`, or to what the server counts with, which must count each
/// ``ShownReceipt/number`` of a ``ShownReceipt/id`` once. About 3 µs; safe from many threads. Source: Specification 16.5.
public struct ReceiptReceiver: Sendable {
    private let keys: [ReceiptKey]

    /// - Parameter keys: those of all senders of the last 7 days, the present one first; at most 16 are tried.
    public init(keys: [ReceiptKey]) { self.keys = Array(keys.prefix(Self.maximumKeyCount)) }

    /// What the receipts of a device are called by that has this key.
    package func ids(of recipient: DevicePublicKey) -> [ReceiptID] { keys.map { $0.id(of: recipient) } }

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

/// From which the names and keys of all devices' receipts follow, so that a server stores none of them.
///
/// It follows from the sender's key, and tells nothing about it. Safe to share between threads; 22 µs and four pages, wiped
/// with the last reference. Source: Specification 16.4; Docs/Decisions/0026-receipts.md.
public final class ReceiptKey: Sendable {
    private let secret: GuardedSecret

    /// Derives the key that goes with a sender's messages for one app.
    public init(of sender: SenderPrivateKey, for topic: Topic) {
        secret = sender.derived("sealedpush/v1 receipts", for: topic.description)
    }

    /// What receipts of the device with this key are called by.
    public func id(of recipient: DevicePublicKey) -> ReceiptID {
        ReceiptID(hash("id", recipient.bytes, byteCount: ReceiptID.byteCount))
    }

    /// What a message to a device says about receipts; about 2 µs.
    public func request(_ recipient: DevicePublicKey, to address: ReceiptAddress) -> ReceiptRequest {
        let id = id(of: recipient)
        return ReceiptRequest(address: address, id: id, key: key(of: id))
    }

    /// The 32 bytes under which a device of that name MACs.
    func key(of id: ReceiptID) -> [UInt8] { hash("key", id.bytes, byteCount: ReceiptRequest.keyByteCount) }

    private func hash(_ label: StaticString, _ bytes: [UInt8], byteCount: Int) -> [UInt8] {
        var message: [UInt8] = []
        label.withUTF8Buffer { message.append(contentsOf: $0) }
        message.append(0)
        message += bytes
        return secret.withBytes { BLAKE2b.hash(message, key: $0, byteCount: byteCount) }
    }
}

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
