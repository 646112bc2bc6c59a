import Crypto
import Foundation
import Testing

@testable import PushCrypto
@testable import SealedPush

/// A sender written from the Specification and swift-crypto alone.
@Suite("A message sealed by swift-crypto's HPKE")
struct IndependentSenderTests {
    private let exchange = Exchange()

    /// The sender's context, of which each seal uses the next number.
    private func sender() throws -> Crypto.HPKE.Sender {
        let recipient = try Curve25519.KeyAgreement.PublicKey(
            rawRepresentation: exchange.identity.recipient.bytes)
        return try Crypto.HPKE.Sender(
            recipientKey: recipient, ciphersuite: .Curve25519_SHA256_ChachaPoly,
            info: Data("sealedpush/v1".utf8) + [0] + Data("com.example.app".utf8),
            authenticatedBy: try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: exchange.senderKey.secretBytes))
    }

    private func keyID(_ publicKey: [UInt8]) -> [UInt8] { Array(Array(Crypto.SHA256.hash(data: publicKey))[..<4]) }

    private func seal(_ context: inout Crypto.HPKE.Sender, number: UInt8, headerNumber: UInt8? = nil) throws -> String {
        let content = """
            {"id":"0123abcd-4567-4abc-8def-0123456789a\(number)","topic":"com.example.app","sent":1760000000,\
            "alert":{"title":"from elsewhere","body":"number \(number)"},"data":{"n":\(number)}}
            """
        var plaintext = Array(content.utf8) + [0x80]
        plaintext += [UInt8](repeating: 0, count: 256 - plaintext.count)
        let header =
            [0x01] + keyID(exchange.identity.recipient.bytes)
            + keyID(exchange.senderKey.sender.bytes) + Array(context.encapsulatedKey)
            + [0, 0, 0, headerNumber ?? number]
        let sealed = try context.seal(Data(plaintext), authenticating: Data(header))
        return (Data(header) + sealed).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    @Test("opens, each number of its context, in any order")
    func opens() throws {
        var context = try sender()
        let texts = try (0..<10 as Range<UInt8>).map { try seal(&context, number: $0) }
        for (number, text) in texts.enumerated().reversed() {
            let opened = try exchange.opener().open(try Envelope(parsing: text), at: exchange.now)
            #expect(opened.content.alert.body == "number \(number)")
            #expect(opened.content.data == ["n": .integer(Int64(number))])
            #expect(opened.sender == exchange.senderKey.sender)
        }
    }

    @Test("is rejected where its header names another number than the context used")
    func wrongNumber() throws {
        var context = try sender()
        let text = try seal(&context, number: 0, headerNumber: 1)
        #expect(refusal(exchange.opener(), try Envelope(parsing: text)) == .rejected)
    }
}
