import Crypto
import Foundation

/// swift-crypto's HPKE, which is CryptoKit's on Apple's systems.
struct SwiftCryptoHPKE: Library {
    private let suite = HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly
    private let isAuthenticated: Bool
    private let recipientSecret, senderSecret: Curve25519.KeyAgreement.PrivateKey
    private let recipient, sender: Curve25519.KeyAgreement.PublicKey
    private let info, plaintext: Data

    init(_ keys: Keys, isAuthenticated: Bool) throws {
        self.isAuthenticated = isAuthenticated
        recipientSecret = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: keys.recipientSecret)
        senderSecret = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: keys.senderSecret)
        recipient = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: keys.recipient)
        sender = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: keys.sender)
        (info, plaintext) = (Data(keys.info), Data(keys.plaintext))
    }

    func seal() throws -> (enc: Data, ciphertext: Data) {
        var context =
            isAuthenticated
            ? try HPKE.Sender(
                recipientKey: recipient, ciphersuite: suite, info: info, authenticatedBy: senderSecret)
            : try HPKE.Sender(recipientKey: recipient, ciphersuite: suite, info: info)
        let ciphertext = try context.seal(plaintext)
        return (context.encapsulatedKey, ciphertext)
    }

    func open(_ enc: Data, _ ciphertext: Data) throws -> Data {
        var context =
            isAuthenticated
            ? try HPKE.Recipient(
                privateKey: recipientSecret, ciphersuite: suite, info: info, encapsulatedKey: enc,
                authenticatedBy: sender)
            : try HPKE.Recipient(
                privateKey: recipientSecret, ciphersuite: suite, info: info, encapsulatedKey: enc)
        return try context.open(ciphertext)
    }
}
