import Crypto
import Foundation
import TestSupport
import Testing

@testable import PushCore

@Suite("An HPKE context") struct HPKEContextTests {
    private let info = HPKEInfo(Array("an app".utf8))
    private let plaintext = Array("a message".utf8)
    private let aad = Array("a header".utf8)

    /// Both sides of an encapsulation, in a class so that threads can share them.
    private final class Pair: Sendable {
        let sender: HPKEContext
        let receiver: HPKEContext

        init(info: HPKEInfo, receiverInfo: HPKEInfo? = nil, otherSender: Bool = false, otherRecipient: Bool = false) {
            let from = X25519PrivateKey.random()
            let to = X25519PrivateKey.random()
            let stranger = X25519PrivateKey.random()
            sender = HPKEContext(sendingTo: to.publicKey, from: from, info: info)
            let believed = otherSender ? stranger.publicKey : from.publicKey
            if otherRecipient {
                receiver = HPKEContext(
                    receiving: try! X25519PublicKey(sender.enc), with: stranger, from: believed,
                    info: receiverInfo ?? info)
            } else {
                receiver = HPKEContext(
                    receiving: try! X25519PublicKey(sender.enc), with: to, from: believed, info: receiverInfo ?? info)
            }
        }
    }

    @Test("Any 12-byte number opens") func anyNumber() {
        var random = SeededGenerator()
        let pair = Pair(info: info)
        let numbers = [[UInt8](repeating: 0, count: 12), [UInt8](repeating: 0xff, count: 12), random.bytes(12)]
        for bytes in numbers {
            let ciphertext = pair.sender.seal(plaintext, aad: aad, HPKENumber(bytes))
            #expect(pair.receiver.open(ciphertext, aad: aad, HPKENumber(bytes)) == plaintext)
            for bit in 0..<96 {
                var other = bytes
                other[bit / 8] ^= 1 << UInt8(bit % 8)
                #expect(pair.receiver.open(ciphertext, aad: aad, HPKENumber(other)) == nil)
            }
        }
    }

    @Test("The number is XORed into the nonce, byte by byte") func nonce() {
        let pair = Pair(info: info)
        func nonce(_ number: HPKENumber) -> [UInt8] { pair.sender.withKeyAndNonce(number) { Array($1) } }
        let number = Array(1...12) as [UInt8]
        #expect(zip(nonce(0), nonce(HPKENumber(number))).map { $0 ^ $1 } == number)
        #expect(HPKENumber(number).bytes == number)
        #expect(HPKENumber(0x0102_0304).bytes == [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4])
    }

    @Test("Each sealing gets a new number, even for the same plaintext") func numbers() {
        let pair = Pair(info: info)
        func number() -> HPKENumber { plaintext.withUnsafeBytes { pair.sender.number(for: $0) } }
        #expect(Set((0..<1_024).map { _ in number() }).count == 1_024)
    }

    @Test("A message does not open under another info, sender, or recipient") func otherParties() {
        for pair in [
            Pair(info: info, receiverInfo: HPKEInfo(Array("an apq".utf8))),
            Pair(info: info, receiverInfo: HPKEInfo([])),
            Pair(info: info, otherSender: true), Pair(info: info, otherRecipient: true),
        ] {
            #expect(pair.receiver.open(pair.sender.seal(plaintext, aad: aad, 0), aad: aad, 0) == nil)
        }
    }

    @Test("A message does not open with other additional data, or if it was altered or cut") func altered() {
        let pair = Pair(info: info)
        let ciphertext = pair.sender.seal(plaintext, aad: aad, 7)
        #expect(pair.receiver.open(ciphertext, aad: [], 7) == nil)
        #expect(pair.receiver.open(ciphertext, aad: aad + [0], 7) == nil)
        for bit in 0..<ciphertext.count * 8 {
            var altered = ciphertext
            altered[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(pair.receiver.open(altered, aad: aad, 7) == nil)
        }
        for count in 0..<ciphertext.count {
            #expect(pair.receiver.open(Array(ciphertext[..<count]), aad: aad, 7) == nil)
        }
    }

    @Test("A message opens only into a buffer of the right length") func wrongBuffer() {
        let pair = Pair(info: info)
        let ciphertext = pair.sender.seal(plaintext, aad: [], 7)
        for count in [0, plaintext.count - 1, plaintext.count + 1] {
            var isOpen = true
            ciphertext.withUnsafeBytes { ciphertext in
                _ = output(count) { output in
                    isOpen = pair.receiver.open(ciphertext, additionalData: .empty, number: 7, into: output)
                }
            }
            #expect(!isOpen)
        }
    }

    @Test("A context is new each time, for the same parties") func fresh() {
        let from = X25519PrivateKey.random()
        let to = X25519PrivateKey.random()
        let first = HPKEContext(sendingTo: to.publicKey, from: from, info: info)
        let second = HPKEContext(sendingTo: to.publicKey, from: from, info: info)
        #expect(first.enc != second.enc)
        #expect(first.seal(plaintext, aad: aad, 0) != second.seal(plaintext, aad: aad, 0))
    }

    @Test("Many threads can use a context at the same time") func threads() {
        let pair = Pair(info: info)
        let failures = Locked(0)
        let (plaintext, aad) = (plaintext, aad)
        onThreads(8) { thread in
            for round in 0..<50 {
                let number = HPKENumber(UInt64(thread * 50 + round))
                let opened = pair.receiver.open(pair.sender.seal(plaintext, aad: aad, number), aad: aad, number)
                if opened != plaintext { failures.withLock { $0 += 1 } }
            }
        }
        #expect(failures.withLock { $0 } == 0)
    }
}

/// An independent implementation: swift-crypto's HPKE, which shares no code with this package.
@Suite("swift-crypto's HPKE") struct SwiftCryptoHPKETests {
    private let suite = Crypto.HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly
    private let recipient = Curve25519.KeyAgreement.PrivateKey()
    private let sender = Curve25519.KeyAgreement.PrivateKey()
    private let info = Array("sealedpush/v1\0com.example.app".utf8)

    private func ours(_ key: Curve25519.KeyAgreement.PrivateKey) throws -> X25519PrivateKey {
        X25519PrivateKey(Array(key.rawRepresentation))
    }

    @Test("swift-crypto opens the messages that a context seals, one after the other") func theyOpen() throws {
        var random = SeededGenerator()
        let context = HPKEContext(
            sendingTo: try ours(recipient).publicKey, from: try ours(sender), info: HPKEInfo(info))
        var theirs = try Crypto.HPKE.Recipient(
            privateKey: recipient, ciphersuite: suite, info: Data(info), encapsulatedKey: Data(context.enc),
            authenticatedBy: sender.publicKey)
        for number in 0..<300 {
            let plaintext = random.bytes(number)
            let aad = random.bytes(number % 50)
            let sealed = context.seal(plaintext, aad: aad, HPKENumber(UInt64(number)))
            let opened = try theirs.open(Data(sealed), authenticating: Data(aad))
            #expect(Array(opened) == plaintext)
        }
    }

    @Test("A context opens the messages that swift-crypto seals, in any order") func theySeal() throws {
        var random = SeededGenerator()
        var theirs = try Crypto.HPKE.Sender(
            recipientKey: recipient.publicKey, ciphersuite: suite, info: Data(info), authenticatedBy: sender)
        let context = HPKEContext(
            receiving: try X25519PublicKey(theirs.encapsulatedKey), with: try ours(recipient),
            from: try ours(sender).publicKey, info: HPKEInfo(info))
        var sealed: [(number: HPKENumber, plaintext: [UInt8], aad: [UInt8], ciphertext: [UInt8])] = []
        for number in 0..<300 {
            let plaintext = random.bytes(number)
            let aad = random.bytes(number % 50)
            sealed.append(
                (
                    HPKENumber(UInt64(number)), plaintext, aad,
                    Array(try theirs.seal(Data(plaintext), authenticating: Data(aad)))
                ))
        }
        for message in sealed.shuffled(using: &random) {
            #expect(context.open(message.ciphertext, aad: message.aad, message.number) == message.plaintext)
        }
    }
}

/// RFC 9180, appendix A.2.3 and A.2.4.
@Suite("RFC 9180's vectors for mode_auth and mode_auth_psk") struct RFC9180Tests {
    /// Includes the pre-shared key, which is empty in mode_auth.
    struct Mode: Sendable, CustomTestStringConvertible {
        let vectors: VectorFile
        let info: HPKEInfo
        let psk: [UInt8]

        init(_ name: String) throws {
            vectors = try VectorFile(named: name)
            psk = vectors.common["psk"] == nil ? [] : vectors.bytes("psk")
            info = HPKEInfo(vectors.bytes("info"), pskID: psk.isEmpty ? [] : vectors.bytes("psk_id"))
        }

        var testDescription: String { psk.isEmpty ? "mode_auth" : "mode_auth_psk" }

        func sending() throws -> HPKEContext {
            let (recipient, ephemeral) = (try X25519PublicKey(vectors.bytes("pkRm")), vectors.bytes("skEm"))
            return WipedBytes(psk + [0]).withBytes {
                HPKEContext(
                    sendingTo: recipient, from: X25519PrivateKey(vectors.bytes("skSm")), info: info,
                    ephemeral: WipedBytes(ephemeral), psk: UnsafeRawBufferPointer(rebasing: $0.dropLast()))
            }
        }

        func receiving() throws -> HPKEContext {
            let (enc, sender) = (try X25519PublicKey(vectors.bytes("enc")), try X25519PublicKey(vectors.bytes("pkSm")))
            return WipedBytes(psk + [0]).withBytes {
                HPKEContext(
                    receiving: enc, with: X25519PrivateKey(vectors.bytes("skRm")), from: sender, info: info,
                    psk: UnsafeRawBufferPointer(rebasing: $0.dropLast()))
            }
        }
    }

    private static let modes = try! [Mode("rfc9180-a2-auth.txt"), Mode("rfc9180-a2-auth-psk.txt")]

    @Test("The secret keys have the RFC's public keys", arguments: modes, ["E", "R", "S"])
    func keyPairs(mode: Mode, name: String) throws {
        let vectors = mode.vectors
        #expect(X25519PrivateKey(vectors.bytes("sk\(name)m")).publicKey.bytes == vectors.bytes("pk\(name)m"))
    }

    @Test("Both sides have the RFC's enc, key, and base nonce", arguments: modes)
    func keyAndBaseNonce(mode: Mode) throws {
        func check(_ context: borrowing HPKEContext) {
            #expect(context.enc == mode.vectors.bytes("enc"))
            let (key, nonce) = context.withKeyAndNonce(0) { (Array($0), Array($1)) }
            #expect(key == mode.vectors.bytes("key"))
            #expect(nonce == mode.vectors.bytes("base_nonce"))
        }
        check(try mode.sending())
        check(try mode.receiving())
    }

    @Test("Every message in the RFC is sealed and opened", arguments: modes) func messages(mode: Mode) throws {
        #expect(mode.vectors.sequences.map { $0["sequence"] } == ["0", "1", "2", "4", "255", "256"])
        let sender = try mode.sending()
        let receiver = try mode.receiving()
        for vector in mode.vectors.sequences {
            let value = try #require(vector["sequence"].flatMap { UInt64($0) })
            let number = HPKENumber(value)
            let (plaintext, aad) = (bytes(hex: vector["pt"]!), bytes(hex: vector["aad"]!))
            let ciphertext = bytes(hex: vector["ct"]!)
            #expect(sender.withKeyAndNonce(number) { Array($1) } == bytes(hex: vector["nonce"]!))
            #expect(sender.seal(plaintext, aad: aad, number) == ciphertext)
            #expect(receiver.open(ciphertext, aad: aad, number) == plaintext)
            #expect(receiver.open(ciphertext, aad: aad, HPKENumber(value + 1)) == nil)
        }
    }
}
