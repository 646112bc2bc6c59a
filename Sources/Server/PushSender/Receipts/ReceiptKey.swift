internal import PushCore
public import SealedPush

/// The key from which the IDs and keys of all devices' receipts are derived, so that a server doesn't store them.
///
/// It's derived from the sender's key but reveals nothing about it. Safe to share between threads. Takes 22 µs and four
/// pages of memory, wiped with the last reference. Source: ContentParts 16.4; Docs/Decisions/0026-receipts.md.
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
