import Testing

@testable import SealedPush

/// Specification 11.3.
@Suite("Checking a signed record")
struct RecordCheckTests {
    private let enrolling = Enrolling()
    private let now = Enrolling.now

    private func refusal(
        _ record: DeviceRecord, pinned: Enrolment? = nil, topic: Topic = Enrolling.topic, known: DeviceRecord? = nil,
        at now: Timestamp = Enrolling.now
    ) -> RecordError? {
        SealedPushTests.refusal { () throws(RecordError) in
            try record.check(pinned: pinned ?? enrolling.enrolment, topic: topic, replacing: known, at: now)
        }
    }

    @Test("takes the pinned signer's, for the topic, in its time")
    func good() throws { #expect(refusal(try enrolling.record()) == nil) }

    @Test("refuses a foreign signer's and another app's")
    func foreign() throws {
        #expect(refusal(try enrolling.record(), pinned: EnrolmentKey().enrolment) == .foreignSigner)
        #expect(refusal(try enrolling.record(), topic: "com.example.other") == .otherTopic)
        #expect(refusal(try enrolling.record(), topic: "com.example.App") == .otherTopic)
    }

    @Test("refuses what has expired, from the next second on")
    func expired() throws {
        let record = try enrolling.record()
        #expect(refusal(record, at: record.expires) == nil)
        #expect(refusal(record, at: record.expires.advanced(bySeconds: 1)) == .expired)
    }

    @Test("refuses what was made more than 26 hours ahead")
    func early() throws {
        let record = try enrolling.record()
        #expect(refusal(record, at: now.advanced(bySeconds: -93_600)) == nil)
        #expect(refusal(record, at: now.advanced(bySeconds: -93_601)) == .notYetValid)
    }

    @Test("refuses a lower counter, and the same with other bytes")
    func rollback() throws {
        let known = try enrolling.record(counter: 7)
        #expect(refusal(known, known: known) == nil)
        #expect(refusal(try enrolling.record(counter: 8), known: known) == nil)
        #expect(refusal(try enrolling.record(counter: .max), known: known) == nil)
        for counter in [0, 6] as [UInt64] {
            #expect(refusal(try enrolling.record(counter: counter), known: known) == .rolledBack)
        }
        let other = try enrolling.record(counter: 7, expires: known.expires.advanced(bySeconds: 1))
        #expect(refusal(other, known: known) == .conflicting)
        #expect(refusal(try enrolling.record(of: [Identity().recipient], counter: 7), known: known) == .conflicting)
    }

    @Test("keeps to the counter of a known record that has expired")
    func expiredKnown() throws {
        let known = try enrolling.record(counter: 7, expires: now.advanced(bySeconds: 1))
        let later = now.advanced(bySeconds: 100)
        #expect(refusal(known, at: later) == .expired)
        #expect(refusal(try enrolling.record(counter: 6), known: known, at: later) == .rolledBack)
        #expect(refusal(try enrolling.record(counter: 8), known: known, at: later) == nil)
    }

    @Test("keeps to the counter of a known record whoever signed it, and takes one of another topic for none")
    func otherKnown() throws {
        let other = try Enrolling().record(counter: 50)
        #expect(refusal(try enrolling.record(counter: 49), known: other) == .rolledBack)
        #expect(refusal(try enrolling.record(counter: 50), known: other) == .conflicting)
        #expect(refusal(try enrolling.record(counter: 51), known: other) == nil)
        let elsewhere = try enrolling.record(topic: "com.example.other", counter: 50)
        #expect(refusal(try enrolling.record(counter: 1), known: elsewhere) == nil)
    }

    @Test("looks at signer, topic, time and counter in this order")
    func order() throws {
        let known = try enrolling.record(counter: 9)
        let record = try enrolling.record(counter: 1, expires: now.advanced(bySeconds: 5))
        let late = now.advanced(bySeconds: 6)
        let stranger = EnrolmentKey().enrolment
        #expect(refusal(record, pinned: stranger, topic: "a", known: known, at: late) == .foreignSigner)
        #expect(refusal(record, topic: "a", known: known, at: late) == .otherTopic)
        #expect(refusal(record, known: known, at: late) == .expired)
        let early = now.advanced(bySeconds: -100_000)
        #expect(refusal(record, known: known, at: early) == .notYetValid)
        #expect(refusal(record, known: known) == .rolledBack)
    }

    @Test("does the same for a sender set")
    func senderSet() throws {
        let key = AuthorityKey()
        func set(_ counter: UInt64, _ sender: Sender = SenderKey().sender) throws(RecordError) -> SenderSet {
            try SenderSet(
                of: [sender], topic: Enrolling.topic, counter: counter, created: now,
                expires: now.advanced(bySeconds: 10), signedBy: key)
        }
        func refusal(
            _ set: SenderSet, pinned: Authority? = nil, topic: Topic = Enrolling.topic, known: SenderSet? = nil,
            at now: Timestamp = Enrolling.now
        ) -> RecordError? {
            SealedPushTests.refusal { () throws(RecordError) in
                try set.check(pinned: pinned ?? key.authority, topic: topic, replacing: known, at: now)
            }
        }
        let known = try set(5)
        #expect(refusal(known, known: known) == nil)
        #expect(refusal(try set(6), known: known) == nil)
        #expect(refusal(try set(5), known: known) == .conflicting)
        #expect(refusal(try set(4), known: known) == .rolledBack)
        #expect(refusal(known, pinned: AuthorityKey().authority) == .foreignSigner)
        #expect(refusal(known, topic: "com.example.other") == .otherTopic)
        #expect(refusal(known, at: now.advanced(bySeconds: 11)) == .expired)
        #expect(refusal(known, at: now.advanced(bySeconds: -93_601)) == .notYetValid)
    }
}
