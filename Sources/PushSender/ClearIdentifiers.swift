package import PushCrypto
import SealedPush

/// Makes the identifiers that travel in the clear, so that they repeat where they must and tell nothing.
///
/// Source: Specification 2.7 to 2.9.
struct ClearIdentifiers: ~Copyable, Sendable {
    private let key: GuardedSecret

    /// K = HKDF-SHA256(sender secret, "sealedpush/v1 ids").
    init(sender: SenderKey) { key = sender.derived("sealedpush/v1 ids") }

    /// For senders without a key of their own: random, so stable for as long as the sealer lives.
    init() {
        key = GuardedSecret(count: Self.keyByteCount) { SecureRandom.fill($0) }
    }

    /// 22 characters of base64url over recipient and the app's own string, or the message where it has none.
    func collapseID(_ text: String?, message: MessageID, recipient: Recipient) -> String {
        Base64URL.encode(hash("collapse", text.map { Array($0.utf8) } ?? message.text, recipient))
    }

    /// A UUIDv8 over recipient and message.
    func apnsID(message: MessageID, recipient: Recipient) -> String {
        MessageID(bytes: hash("apns-id", message.text, recipient), version: 8).description
    }

    private func hash(_ label: StaticString, _ text: [UInt8], _ recipient: Recipient) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(96)
        label.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(0)
        bytes += recipient.bytes
        bytes += text
        return key.withBytes { BLAKE2b.hash(bytes, key: $0, byteCount: 16) }
    }

    private static let keyByteCount = 32
}

extension SenderKey {
    /// 32 bytes for one purpose: HKDF-SHA256(sender secret, no salt, `info`). Nothing about the sender's secret follows from them.
    package func derived(_ info: StaticString) -> GuardedSecret {
        let zeros = [UInt8](repeating: 0, count: HKDF.pseudorandomKeyByteCount)
        let extracted = WipedBytes(count: HKDF.pseudorandomKeyByteCount) { output in
            withBytes { secret in
                zeros.withUnsafeBytes { HKDF.extract(salt: $0, inputKeyMaterial: secret, into: output) }
            }
        }
        return GuardedSecret(count: HKDF.pseudorandomKeyByteCount) { output in
            extracted.withBytes { extracted in
                info.withUTF8Buffer { info in
                    HKDF.expand(extracted, info: UnsafeRawBufferPointer(info), into: output)
                }
            }
        }
    }
}
