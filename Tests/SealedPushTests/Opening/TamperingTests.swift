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
}
