import Testing

@testable import SealedPush

/// Specification 6.4.
@Suite("The time rules")
struct TimeRulesTests {
    static let last = Timestamp(secondsSince1970: 253_402_300_799)!.secondsSince1970

    /// Times in seconds after now, of content that opens and of content that does not.
    struct Limit: CustomTestStringConvertible {
        let testDescription: String
        let opens: (sent: Int64, expires: Int64?)
        let refused: (sent: Int64, expires: Int64?)
        let reason: OpenError
        var isAnonymous = [false, true]
    }

    static let limits = [
        Limit(
            testDescription: "sent 26 hours ahead", opens: (93_600, nil), refused: (93_601, nil), reason: .clock,
            isAnonymous: [false]),
        Limit(
            testDescription: "sent 10 minutes ahead by anybody", opens: (600, nil), refused: (601, nil), reason: .clock,
            isAnonymous: [true]),
        Limit(
            testDescription: "30 days old", opens: (-2_592_000, nil), refused: (-2_592_001, nil), reason: .tooOld),
        Limit(testDescription: "expired 10 minutes ago", opens: (0, -600), refused: (0, -601), reason: .expired),
    ]

    @Test("open content at a limit, and refuse it a second later", arguments: limits)
    func limit(limit: Limit) {
        let exchange = Exchange()
        for isAnonymous in limit.isAnonymous {
            for (times, expected) in [(limit.opens, nil), (limit.refused, limit.reason)] as [(_, OpenError?)] {
                let content = exchange.content { content in
                    content.sent = exchange.now.advanced(bySeconds: times.sent)
                    content.expires = times.expires.map(exchange.now.advanced(bySeconds:))
                }
                let envelope = isAnonymous ? exchange.sealAnonymously(content) : exchange.seal(content)
                #expect(refusal(exchange.opener(allowsAnonymous: true), envelope) == expected)
            }
        }
    }

    @Test(
        "hold at both ends of time",
        arguments: [(0, 0, nil), (last, last, nil), (last, 0, .clock), (0, last, .tooOld)]
            as [(Int64, Int64, OpenError?)])
    func ends(sent: Int64, now: Int64, expected: OpenError?) {
        let exchange = Exchange()
        let envelope = exchange.seal(exchange.content { $0.sent = Timestamp(secondsSince1970: sent) })
        #expect(refusal(exchange.opener(), envelope, at: Timestamp(secondsSince1970: now)!) == expected)
    }
}
