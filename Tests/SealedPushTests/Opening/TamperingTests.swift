import Testing

@testable import SealedPush

@Suite("An envelope that was altered on its way")
struct TamperingTests {
    private let exchange = Exchange()

    /// A short one, so that each of its bits can be tried.
    private func short() -> Envelope { exchange.seal(exchange.content().json + [0x80]) }

    @Test("does not open with any single bit changed", arguments: [true, false])
    func everyBit(isAuthenticated: Bool) {
        let envelope =
            isAuthenticated
            ? short() : Envelope.sealingAnonymously(exchange.content().json + [0x80], to: exchange.identity.recipient)
        let opener = exchange.opener(allowsAnonymous: true)
        #expect(refusal(opener, envelope) == nil)
        for bit in 0..<envelope.bytes.count * 8 {
            var bytes = envelope.bytes
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            guard let altered = try? Envelope(parsing: bytes) else { continue }
            let expected: OpenError =
                switch bit / 8 {
                case 1..<5: .unknownRecipient
                case 5..<9 where isAuthenticated: .unknownSender
                default: .rejected
                }
            // The suite's own bits lead to the other suite, and there to nothing that opens.
            if bit / 8 > 0 {
                #expect(refusal(opener, altered) == expected)
            } else {
                #expect(refusal(opener, altered) != nil)
            }
        }
    }

    @Test("does not open cut at any length, or with anything added")
    func cutsAndAdditions() throws {
        let envelope = short()
        for count in 0..<envelope.bytes.count {
            guard let cut = try? Envelope(parsing: Array(envelope.bytes[..<count])) else { continue }
            #expect(refusal(exchange.opener(), cut) == .rejected)
        }
        for addition in [[0], [0x80], [UInt8](repeating: 0, count: 16)] {
            let longer = try Envelope(parsing: envelope.bytes + addition)
            #expect(refusal(exchange.opener(), longer) == .rejected)
        }
    }

    @Test("does not open with a header, or a part of one, from another envelope to the same device")
    func swappedHeaders() throws {
        let context = exchange.context()
        let plaintext = exchange.padded(exchange.content().json)
        func seal(_ number: UInt32) -> Envelope {
            Envelope.sealing(
                plaintext, to: exchange.identity.recipient, from: exchange.senderKey.sender, in: context,
                sequenceNumber: number)
        }
        // Of one context, and of two.
        for (first, second) in [(seal(0), seal(1)), (seal(2), exchange.seal(plaintext, number: 3))] {
            #expect(refusal(exchange.opener(), first) == nil)
            #expect(refusal(exchange.opener(), second) == nil)
            for part in [0..<45, 1..<5, 5..<9, 9..<41, 41..<45] where first.bytes[part] != second.bytes[part] {
                for (one, other) in [(first, second), (second, first)] {
                    var bytes = one.bytes
                    bytes.replaceSubrange(part, with: other.bytes[part])
                    #expect(refusal(exchange.opener(), try Envelope(parsing: bytes)) == .rejected)
                }
            }
        }
    }

    @Test("does not open as the other suite")
    func otherSuite() throws {
        var bytes = exchange.seal(exchange.content()).bytes
        bytes[0] = 0x02
        #expect(refusal(exchange.opener(allowsAnonymous: true), try Envelope(parsing: bytes)) == .rejected)
    }
}
