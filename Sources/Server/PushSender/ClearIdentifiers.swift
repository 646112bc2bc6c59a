internal import PushCore
import SealedPush

/// Makes the identifiers that travel in the clear, so that they repeat where they must and tell nothing.
///
/// Source: Specification 2.7 to 2.9.
struct ClearIdentifiers: ~Copyable, Sendable {
    private let key: GuardedSecret

    /// K of Specification 2.7.
    init(sender: SenderPrivateKey, topic: Topic) {
        key = sender.derived("sealedpush/v1 ids", for: topic.description)
    }

    /// For senders without a key of their own: random, so stable for as long as the sealer lives.
    init() { key = GuardedSecret(count: Self.keyByteCount) { SecureRandom.fill($0) } }

    /// 22 characters of base64url over recipient and the app's own string, or the message where it has none.
    func collapseID(_ text: String?, message: MessageID, recipient: DevicePublicKey) -> String {
        withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 1) { identifier in
            if var text {
                text.withUTF8 { text in
                    hash("collapse", recipient, text.count, into: identifier) { $0.copyBytes(from: text) }
                }
            } else {
                hash("collapse", recipient, MessageID.textByteCount, into: identifier, message.write)
            }
            return Base64URL.encode(UnsafeRawBufferPointer(identifier))
        }
    }

    /// A UUIDv8 over recipient and message.
    func apnsID(message: MessageID, recipient: DevicePublicKey) -> String {
        withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 1) { identifier in
            hash("apns-id", recipient, MessageID.textByteCount, into: identifier, message.write)
            return MessageID(bytes: UnsafeRawBufferPointer(identifier), version: 8).description
        }
    }

    /// Tells contents under one idempotency key apart: 16 bytes that name this sender's key, and a MAC. Whoever has the sender's
    /// secret could try contents, if the idempotency key can be guessed, too.
    func fingerprint(of content: [UInt8], under tag: [UInt8]) -> [UInt8] {
        key.withBytes { key in
            BLAKE2b.hash(Array("fingerprint".utf8), key: key, byteCount: Self.byteCount)
                + BLAKE2b.hash(Array("content".utf8) + [0] + tag + content, key: key, byteCount: Self.byteCount)
        }
    }

    /// Whether both are of one sender's key, and of different contents.
    static func differ(_ a: [UInt8], _ b: [UInt8]) -> Bool { a.prefix(byteCount) == b.prefix(byteCount) && a != b }

    /// - Parameter write: writes the text, which has so many bytes.
    private func hash(
        _ label: StaticString, _ recipient: DevicePublicKey, _ textByteCount: Int,
        into identifier: UnsafeMutableRawBufferPointer, _ write: (UnsafeMutableRawBufferPointer) -> Void
    ) {
        let recipientPlace = label.utf8CodeUnitCount + 1
        let textPlace = recipientPlace + recipient.bytes.count
        withUnsafeTemporaryAllocation(byteCount: textPlace + textByteCount, alignment: 1) { message in
            label.withUTF8Buffer { message.copyBytes(from: $0) }
            message[recipientPlace - 1] = 0
            UnsafeMutableRawBufferPointer(rebasing: message[recipientPlace...]).copyBytes(from: recipient.bytes)
            write(UnsafeMutableRawBufferPointer(rebasing: message[textPlace...]))
            key.withBytes { BLAKE2b.hash(UnsafeRawBufferPointer(message), key: $0, into: identifier) }
        }
    }

    private static let byteCount = 16
    private static let keyByteCount = 32
}
