import TestSupport
import Testing

@testable import PushCore

@Suite("An HPKE context")
struct HPKEContextTests {
    private let info = HPKEInfo(Array("an app".utf8))
    private let plaintext = Array("a message".utf8)
    private let aad = Array("a header".utf8)

    /// Both sides of one encapsulation, in a class so that threads can share them.
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

    @Test("opens any 32-bit number", arguments: [0, 1, 255, 256, 1_023, 65_536, 1 << 24, .max] as [UInt32])
    func anyNumber(number: UInt32) {
        let pair = Pair(info: info)
        let ciphertext = pair.sender.seal(plaintext, aad: aad, number)
        #expect(pair.receiver.open(ciphertext, aad: aad, number) == plaintext)
        for bit in 0..<32 {
            #expect(pair.receiver.open(ciphertext, aad: aad, number ^ 1 << UInt32(bit)) == nil)
        }
    }

    @Test("changes the last four bytes of the nonce only")
    func nonce() {
        let pair = Pair(info: info)
        func nonce(_ number: UInt32) -> [UInt8] { pair.sender.withKeyAndNonce(number) { Array($1) } }
        let change = zip(nonce(0), nonce(0x0102_0304)).map { $0 ^ $1 }
        #expect(change == [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4])
    }

    @Test("does not open under another info, sender or recipient")
    func otherParties() {
        for pair in [
            Pair(info: info, receiverInfo: HPKEInfo(Array("an apq".utf8))),
            Pair(info: info, receiverInfo: HPKEInfo([])),
            Pair(info: info, otherSender: true), Pair(info: info, otherRecipient: true),
        ] {
            #expect(pair.receiver.open(pair.sender.seal(plaintext, aad: aad, 0), aad: aad, 0) == nil)
        }
    }

    @Test("does not open other additional data, nor anything altered or cut")
    func altered() {
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

    @Test("is new each time, for the same parties")
    func fresh() {
        let from = X25519PrivateKey.random()
        let to = X25519PrivateKey.random()
        let first = HPKEContext(sendingTo: to.publicKey, from: from, info: info)
        let second = HPKEContext(sendingTo: to.publicKey, from: from, info: info)
        #expect(first.enc != second.enc)
        #expect(first.seal(plaintext, aad: aad, 0) != second.seal(plaintext, aad: aad, 0))
    }

    @Test("serves many threads at once")
    func threads() {
        let pair = Pair(info: info)
        let failures = Locked(0)
        let (plaintext, aad) = (plaintext, aad)
        onThreads(8) { thread in
            for round in 0..<50 {
                let number = UInt32(thread * 50 + round)
                let opened = pair.receiver.open(pair.sender.seal(plaintext, aad: aad, number), aad: aad, number)
                if opened != plaintext { failures.withLock { $0 += 1 } }
            }
        }
        #expect(failures.withLock { $0 } == 0)
    }
}
