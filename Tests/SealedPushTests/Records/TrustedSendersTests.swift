import Testing

@testable import SealedPush

/// Specification 11.6.
@Suite("Trusted senders")
struct TrustedSendersTests {
    private let first = AuthorityPrivateKey()
    private let second = AuthorityPrivateKey()
    private let builtIn = SenderPrivateKey().sender
    private let now = Exchange.now

    private func set(
        _ counter: UInt64, by key: AuthorityPrivateKey, topic: Topic = Exchange.topic, expires: Int64 = 100
    ) throws(RecordError) -> SenderSet {
        try SenderSet(
            of: [SenderPrivateKey().sender, SenderPrivateKey().sender], topic: topic, counter: counter, created: now,
            expires: now.advanced(bySeconds: expires), signedBy: key)
    }

    private func refusal(
        _ set: SenderSet, by trusted: TrustedSenders, known: SenderSet? = nil
    ) -> RecordError? {
        SealedPushTests.refusal { () throws(RecordError) in
            try trusted.check(set, topic: Exchange.topic, replacing: known, at: now)
        }
    }

    @Test("are those built in until a pinned authority's set takes their place, in its order")
    func following() throws {
        let trusted = TrustedSenders([builtIn], authorities: [first.authority])
        let set = try set(1, by: first)
        func believed(_ set: SenderSet?, at now: Timestamp) -> [SenderPublicKey] {
            trusted.senders(following: set, topic: Exchange.topic, at: now)
        }
        #expect(believed(nil, at: now) == [builtIn])
        #expect(believed(set, at: now) == set.senders)
        // A set that nobody may believe is none; an expired one leaves nobody, not the old keys.
        #expect(believed(try self.set(1, by: second), at: now) == [builtIn])
        #expect(believed(try self.set(1, by: first, topic: "com.example.other"), at: now) == [builtIn])
        #expect(believed(set, at: now.advanced(bySeconds: 101)).isEmpty)
    }

    @Test("take a set of any pinned authority and of no other")
    func pinned() throws {
        let both = TrustedSenders([], authorities: [first.authority, second.authority])
        #expect(refusal(try set(1, by: first), by: both) == nil)
        #expect(refusal(try set(1, by: second), by: both) == nil)
        #expect(refusal(try set(1, by: AuthorityPrivateKey()), by: both) == .foreignSigner)
        #expect(refusal(try set(1, by: first), by: TrustedSenders([builtIn])) == .foreignSigner)
    }

    @Test("of two authorities can't be rolled back by going from one to the other")
    func rollback() throws {
        let both = TrustedSenders([], authorities: [first.authority, second.authority])
        let (old, newer) = (try set(3, by: first), try set(4, by: second))
        #expect(refusal(newer, by: both, known: old) == nil)
        #expect(refusal(old, by: both, known: newer) == .rolledBack)
        #expect(refusal(try set(4, by: first), by: both, known: newer) == .conflicting)
    }

    @Test("forget the counter of an authority that is no longer pinned")
    func replacedAuthority() throws {
        let known = try set(.max, by: first)
        let set = try set(1, by: second)
        #expect(refusal(set, by: TrustedSenders([], authorities: [second.authority]), known: known) == nil)
        let both = TrustedSenders([], authorities: [first.authority, second.authority])
        #expect(refusal(set, by: both, known: known) == .rolledBack)
    }
}
