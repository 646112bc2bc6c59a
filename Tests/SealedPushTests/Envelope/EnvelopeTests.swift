import Crypto
import Testing

@testable import PushCore
@testable import SealedPush

/// Specification 3.1.
@Suite("An envelope") struct EnvelopeTests {
    private let exchange = Exchange()
    private let plaintext = Array("a plaintext".utf8)

    /// The hint as computed by swift-crypto.
    private func hint(_ name: String, _ hashed: [UInt8]) -> [UInt8] {
        Array(Array(Crypto.SHA256.hash(data: Array("sealedpush/v1 \(name) hint".utf8) + hashed))[..<4])
    }

    @Test("An authenticated envelope has the Specification's bytes, and parses as what was sealed")
    func authenticated() throws {
        let info = EnvelopeInfo(topic: Exchange.topic).classical
        let (recipient, sender) = (exchange.identity.recipient, exchange.senderKey)
        let ephemeral = Array(1...32) as [UInt8]
        func hpke() -> HPKEContext {
            HPKEContext(
                sendingTo: recipient.x25519, from: sender.x25519, info: info,
                ephemeral: WipedBytes(count: 32) { $0.copyBytes(from: ephemeral) })
        }
        let number = Array(101...112) as [UInt8]
        let envelope = SealingContext(hpke(), to: recipient, from: sender.sender)
            .seal(plaintext, number: number.withUnsafeBytes { HPKENumber($0) })
        let context = hpke()
        let hinted = [0, 0x01] + context.enc + recipient.bytes
        let hints = hint("recipient", hinted) + hint("sender", hinted + sender.sender.bytes)
        let header = [0x01] + hints + context.enc + number
        let sealed = context.seal(plaintext, aad: header, number.withUnsafeBytes { HPKENumber($0) })
        #expect(header.count == 53)
        #expect(envelope.bytes == header + sealed)
        #expect(Array(envelope.headerBytes) == header)
        #expect(Array(envelope.sealedBytes) == sealed)
        #expect(envelope.suite == .authenticated)
        #expect(envelope.plaintextByteCount == plaintext.count)

        let parsed = try Envelope(parsing: envelope.bytes)
        #expect(parsed == envelope)
        #expect(try Envelope(parsing: envelope.text) == envelope)
        #expect(parsed.recipientHint.bytes == Array(hints[..<4]))
        #expect(parsed.senderHint?.bytes == Array(hints[4...]))
        #expect(parsed.number == number)
        #expect(Array(parsed.enc) == context.enc)
    }

    @Test("An anonymous envelope has the Specification's bytes, and parses as what was sealed")
    func anonymous() throws {
        let envelope = Envelope.sealingAnonymously(plaintext, to: exchange.identity.recipient)
        let hinted = [0, 0x02] + envelope.bytes[5..<37] + exchange.identity.recipient.bytes
        let hint = self.hint("recipient", hinted)
        #expect(Array(envelope.bytes[..<5]) == [0x02] + hint)
        #expect(envelope.bytes.count == plaintext.count + 53)
        #expect(envelope.headerBytes.count == 5)
        #expect(envelope.suite == .anonymous)
        #expect(envelope.plaintextByteCount == plaintext.count)
        #expect(envelope.recipientHint.bytes == hint)
        #expect(try Envelope(parsing: envelope.bytes) == envelope)
        #expect(try Envelope(parsing: envelope.text) == envelope)
        #expect(envelope.senderHint == nil && envelope.number == nil)
    }

    @Test("An envelope is rejected at every length below its suite's minimum, and accepted from there on")
    func everyCut() {
        let envelopes = [
            (exchange.seal(plaintext), 70),
            (Envelope.sealingAnonymously(plaintext, to: exchange.identity.recipient), 54),
        ]
        for (envelope, minimum) in envelopes {
            for count in 0...envelope.bytes.count {
                let cut = Array(envelope.bytes[..<count])
                let expected: EnvelopeError? =
                    count == 0 ? .empty : count < minimum ? .tooShort(byteCount: count, minimum: minimum) : nil
                #expect(refusal(cut) == expected)
                #expect(refusal(Base64URL.encode(cut)) == expected)
            }
        }
    }

    @Test("An envelope with any of the 253 unknown suite bytes is rejected") func unknownSuites() {
        var envelope = exchange.seal(plaintext).bytes
        var refused = 0
        for byte in 0...255 as ClosedRange<UInt8> where ![0x01, 0x02, 0x03].contains(byte) {
            envelope[0] = byte
            #expect(refusal(envelope) == .unknownSuite(byte))
            #expect(refusal([byte]) == .unknownSuite(byte))
            refused += 1
        }
        #expect(refused == 253)
    }

    @Test("An envelope of 3,072 bytes is accepted, and one byte more is rejected") func longest() {
        let longest = exchange.seal([UInt8](repeating: 1, count: 3_072 - 69))
        #expect(longest.bytes.count == 3_072 && longest.text.utf8.count == 4_096)
        #expect(refusal(longest.bytes) == nil)
        #expect(refusal(longest.text) == nil)
        #expect(refusal(longest.bytes + [0]) == .tooLong)
        #expect(refusal(Base64URL.encode(longest.bytes + [0])) == .tooLong)
        #expect(refusal(String(repeating: "!", count: 4_097)) == .tooLong)
        #expect(refusal(String(repeating: "A", count: 1_000_000)) == .tooLong)
    }

    private func refusal(_ bytes: [UInt8]) -> EnvelopeError? {
        SealedPushTests.refusal { () throws(EnvelopeError) in _ = try Envelope(parsing: bytes) }
    }

    private func refusal(_ text: String) -> EnvelopeError? {
        SealedPushTests.refusal { () throws(EnvelopeError) in _ = try Envelope(parsing: text) }
    }
}

extension HPKEContext {
    func seal(_ plaintext: [UInt8], aad: [UInt8], _ number: HPKENumber) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: plaintext.count + 16)
        output.withUnsafeMutableBytes { output in
            plaintext.withUnsafeBytes { plaintext in
                aad.withUnsafeBytes {
                    seal(plaintext, additionalData: $0, number: number, into: output)
                }
            }
        }
        return output
    }
}
