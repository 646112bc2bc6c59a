import Testing

@testable import SealedPush

/// Specification 6.4.
@Suite("The time rules")
struct TimeRulesTests {
    private let exchange = Exchange()

    /// The outcome for content sent, and expiring, so many seconds from now.
    private func outcome(sent: Int64 = 0, expires: Int64? = nil, isAnonymous: Bool = false) -> OpenError? {
        let content = exchange.content { content in
            content.sent = exchange.now.advanced(bySeconds: sent)
            content.expires = expires.map(exchange.now.advanced(bySeconds:))
        }
        return refusal(
            exchange.opener(allowsAnonymous: true),
            isAnonymous ? exchange.sealAnonymously(content) : exchange.seal(content))
    }

    @Test("take content up to 26 hours ahead, and not a second more")
    func lead() {
        #expect(outcome(sent: 93_600) == nil)
        #expect(outcome(sent: 93_601) == .clock)
    }

    @Test("take anonymous content up to 10 minutes ahead, and not a second more")
    func anonymousLead() {
        #expect(outcome(sent: 600, isAnonymous: true) == nil)
        #expect(outcome(sent: 601, isAnonymous: true) == .clock)
        #expect(outcome(sent: 601) == nil)
    }

    @Test("take content up to 30 days old, and not a second more", arguments: [false, true])
    func age(isAnonymous: Bool) {
        #expect(outcome(sent: -2_592_000, isAnonymous: isAnonymous) == nil)
        #expect(outcome(sent: -2_592_001, isAnonymous: isAnonymous) == .tooOld)
    }

    @Test("take content up to 10 minutes past its expiry, and not a second more", arguments: [false, true])
    func expiry(isAnonymous: Bool) {
        #expect(outcome(expires: -600, isAnonymous: isAnonymous) == nil)
        #expect(outcome(expires: -601, isAnonymous: isAnonymous) == .expired)
        #expect(outcome(expires: 1_000_000_000, isAnonymous: isAnonymous) == nil)
    }

    @Test("hold at both ends of time")
    func ends() {
        let (first, last) = (Timestamp(secondsSince1970: 0)!, Timestamp(secondsSince1970: 253_402_300_799)!)
        for (sent, now, expected) in [
            (first, first, nil), (last, last, nil), (last, first, .clock), (first, last, .tooOld),
        ] as [(Timestamp, Timestamp, OpenError?)] {
            let envelope = exchange.seal(exchange.content { $0.sent = sent })
            #expect(refusal(exchange.opener(), envelope, at: now) == expected)
        }
        let expired = exchange.seal(exchange.content { ($0.sent, $0.expires) = (last, first) })
        #expect(refusal(exchange.opener(), expired, at: last) == .expired)
    }
}
