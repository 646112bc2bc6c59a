internal import PushCore
import SealedPush

/// Creates identifiers that travel in the clear. They repeat if needed, and reveal nothing. Source: Specification 2.7-2.9.
struct ClearIdentifiers: ~Copyable, Sendable {
    private let key: GuardedSecret

    /// Derives K of Specification 2.7.
    init(sender: SenderPrivateKey, topic: Topic) {
        key = sender.derived("sealedpush/v1 ids", for: topic.description)
    }

    /// For anonymous senders. The key is random, so identifiers are stable only while the sealer exists.
    init() { key = GuardedSecret(count: Self.keyByteCount) { SecureRandom.fill($0) } }

    /// Returns 22 characters of base64url for the recipient and the app's own string, or the message if there's no string.
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

    /// Returns a UUIDv8 derived from the recipient and the message.
    func apnsID(message: MessageID, recipient: DevicePublicKey) -> String {
        withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 1) { identifier in
            hash("apns-id", recipient, MessageID.textByteCount, into: identifier, message.write)
            return MessageID(bytes: UnsafeRawBufferPointer(identifier), version: 8).description
        }
    }

    /// Returns a fingerprint that distinguishes content objects under the same idempotency key: 16 bytes that identify the
    /// sender's key, and a MAC. If the idempotency key is guessable, the sender's secret can verify guesses at the content.
    func fingerprint(of content: [UInt8], under tag: [UInt8]) -> [UInt8] {
        key.withBytes { key in
            BLAKE2b.hash(Array("fingerprint".utf8), key: key, byteCount: Self.byteCount)
                + BLAKE2b.hash(Array("content".utf8) + [0] + tag + content, key: key, byteCount: Self.byteCount)
        }
    }

    /// Whether both fingerprints come from the same sender's key, but for different content.
    static func differ(_ a: [UInt8], _ b: [UInt8]) -> Bool { a.prefix(byteCount) == b.prefix(byteCount) && a != b }

    /// - Parameter write: Writes the text, exactly `textByteCount` bytes.
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
