import PushCore
import TestSupport

/// This project's HPKE: the context that seals and opens each push, here with the number 0, as RFC 9180's first message has.
final class SealedPushHPKE: Library {
    private let recipientSecret: X25519PrivateKey
    private let senderSecret: X25519PrivateKey
    private let recipient: X25519PublicKey
    private let sender: X25519PublicKey
    private let info: [UInt8]
    private let plaintext: [UInt8]
    private let none = UnsafeRawBufferPointer(start: nil, count: 0)

    init(_ keys: Keys) throws {
        recipientSecret = X25519PrivateKey(keys.recipientSecret)
        senderSecret = X25519PrivateKey(keys.senderSecret)
        recipient = try keys.recipient.withUnsafeBytes { (bytes) throws(X25519Error) in try X25519PublicKey(bytes) }
        sender = try keys.sender.withUnsafeBytes { (bytes) throws(X25519Error) in try X25519PublicKey(bytes) }
        (info, plaintext) = (keys.info, keys.plaintext)
    }

    func seal() -> (enc: [UInt8], ciphertext: [UInt8]) {
        // The other libraries hash the info for each context, so this one does, too. A Sealer hashes it once.
        let context = HPKEContext(sendingTo: recipient, from: senderSecret, info: HPKEInfo(info))
        let byteCount = plaintext.count + ChaCha20Poly1305.tagByteCount
        let ciphertext = [UInt8](unsafeUninitializedCapacity: byteCount) { output, count in
            let output = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(output)[..<byteCount])
            plaintext.withUnsafeBytes {
                context.seal($0, additionalData: none, number: HPKENumber(0), into: output)
            }
            count = byteCount
        }
        return (context.enc, ciphertext)
    }

    func open(_ enc: [UInt8], _ ciphertext: [UInt8]) throws -> [UInt8] {
        let byteCount = ciphertext.count - ChaCha20Poly1305.tagByteCount
        guard byteCount >= 0 else { throw Refused() }
        let enc = try enc.withUnsafeBytes { (bytes) throws(X25519Error) in try X25519PublicKey(bytes) }
        let context = HPKEContext(receiving: enc, with: recipientSecret, from: sender, info: HPKEInfo(info))
        return try [UInt8](unsafeUninitializedCapacity: byteCount) { output, count in
            let output = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(output)[..<byteCount])
            let isOpen = ciphertext.withUnsafeBytes {
                context.open($0, additionalData: none, number: HPKENumber(0), into: output)
            }
            guard isOpen else { throw Refused() }
            count = byteCount
        }
    }
}
