internal import PushCrypto
public import SealedPush

/// From which the names and keys of all devices' receipts follow, so that a server stores none of them.
///
/// It follows from the sender's key, and tells nothing about it. Safe to share between threads; 22 µs and four pages, wiped
/// with the last reference. Source: Specification 16.4; Docs/Decisions/0026-receipts.md.
public final class ReceiptKey: Sendable {
    private let secret: GuardedSecret

    /// The one that goes with a sender's messages.
    public init(of sender: SenderKey) { secret = sender.derived("sealedpush/v1 receipts") }

    /// What receipts of the device with this key are called by.
    public func id(of recipient: Recipient) -> ReceiptID {
        ReceiptID(hash("id", recipient.bytes, byteCount: ReceiptID.byteCount))
    }

    /// What a message to a device says about receipts; about 2 µs.
    public func request(_ recipient: Recipient, to address: ReceiptAddress) -> ReceiptRequest {
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
