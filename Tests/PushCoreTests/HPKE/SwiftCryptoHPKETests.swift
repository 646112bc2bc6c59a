import Crypto
import Foundation
import TestSupport
import Testing

@testable import PushCore

/// A second opinion: swift-crypto's HPKE, which knows nothing of this package.
@Suite("swift-crypto's HPKE")
struct SwiftCryptoHPKETests {
    private let suite = Crypto.HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly
    private let recipient = Curve25519.KeyAgreement.PrivateKey()
    private let sender = Curve25519.KeyAgreement.PrivateKey()
    private let info = Array("sealedpush/v1\0com.example.app".utf8)

    private func ours(_ key: Curve25519.KeyAgreement.PrivateKey) throws -> X25519PrivateKey {
        X25519PrivateKey(Array(key.rawRepresentation))
    }

    @Test("opens what a context seals, message after message")
    func theyOpen() throws {
        var random = SeededGenerator()
        let context = HPKEContext(
            sendingTo: try ours(recipient).publicKey, from: try ours(sender), info: HPKEInfo(info))
        var theirs = try Crypto.HPKE.Recipient(
            privateKey: recipient, ciphersuite: suite, info: Data(info), encapsulatedKey: Data(context.enc),
            authenticatedBy: sender.publicKey)
        for number in 0..<300 as Range<UInt32> {
            let plaintext = random.bytes(Int(number))
            let aad = random.bytes(Int(number % 50))
            let opened = try theirs.open(Data(context.seal(plaintext, aad: aad, number)), authenticating: Data(aad))
            #expect(Array(opened) == plaintext)
        }
    }

    @Test("seals what a context opens, in any order")
    func theySeal() throws {
        var random = SeededGenerator()
        var theirs = try Crypto.HPKE.Sender(
            recipientKey: recipient.publicKey, ciphersuite: suite, info: Data(info), authenticatedBy: sender)
        let context = HPKEContext(
            receiving: try X25519PublicKey(theirs.encapsulatedKey), with: try ours(recipient),
            from: try ours(sender).publicKey, info: HPKEInfo(info))
        var sealed: [(number: UInt32, plaintext: [UInt8], aad: [UInt8], ciphertext: [UInt8])] = []
        for number in 0..<300 as Range<UInt32> {
            let plaintext = random.bytes(Int(number))
            let aad = random.bytes(Int(number % 50))
            sealed.append((number, plaintext, aad, Array(try theirs.seal(Data(plaintext), authenticating: Data(aad)))))
        }
        for message in sealed.shuffled(using: &random) {
            #expect(context.open(message.ciphertext, aad: message.aad, message.number) == message.plaintext)
        }
    }
}
