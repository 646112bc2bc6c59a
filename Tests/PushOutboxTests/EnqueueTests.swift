import Foundation
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushOutbox

@Suite("Enqueueing", .overForms) struct EnqueueTests {
    private let fixture: Fixture

    init() async throws { fixture = try await Fixture() }

    @Test("enqueueing twice with one key enqueues once, for a device, a user, and everyone") func once() async throws {
        for number in 0..<3 { try await fixture.addDevice("d\(number)") }
        for (audience, count) in [(Audience.device("d0"), 1), (.user("anna"), 3), (.everyone, 3)] {
            let key = "key \(count) \(audience)"
            #expect(try await fixture.enqueue(to: audience, key: key).enqueuedCount == count)
            let again = try await fixture.enqueue(to: audience, key: key)
            #expect(again.enqueuedCount == 0)
            #expect(again.alreadyEnqueuedCount == count)
        }
        #expect(try await fixture.outbox.status().waitingCount == 7)
    }

    @Test("a key that was used for others is refused") func otherAudience() async throws {
        for name in ["a", "b"] { try await fixture.addDevice(name) }
        try await fixture.enqueue(to: .device("a"), key: "k")
        await #expect(throws: OutboxError.keyUsedForOthers) {
            try await fixture.enqueue(to: .device("b"), key: "k")
        }
        await #expect(throws: OutboxError.keyUsedForOthers) {
            try await fixture.enqueue(to: .everyone, key: "k")
        }
    }

    @Test("other content under a used key is refused, unless the sender key differs")
    func otherContent() async throws {
        for number in 0..<2 { try await fixture.addDevice("d\(number)") }
        for audience in [Audience.device("d0"), .user("anna"), .everyone] {
            let first = try await fixture.enqueue("one", to: audience, key: "\(audience)")
            await #expect(throws: OutboxError.keyUsedForOthers) {
                try await fixture.enqueue("two", to: audience, key: "\(audience)")
            }
            let again = try await fixture.enqueue("one", to: audience, key: "\(audience)")
            #expect((again.enqueuedCount, again.id) == (0, first.id))
            let rotated = Sealer(sender: SenderPrivateKey(), topic: Fixture.topic, safeDefault: "New")
            let unknown = try await fixture.outbox.enqueue(
                OutgoingMessage(Content(body: "two"), key: IdempotencyKey("\(audience)")), to: audience, from: rotated,
                includingUnverified: true)
            #expect((unknown.enqueuedCount, unknown.id) == (0, first.id))
        }
        #expect(try await fixture.outbox.status().waitingCount == 5)
    }

    @Test("many concurrent calls with one key enqueue once") func atOnce() async throws {
        for number in 0..<5 { try await fixture.addDevice("d\(number)") }
        let fixture = fixture
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { try await fixture.enqueue(to: .everyone, key: "k", in: fixture.reopened()) }
            }
            try await group.waitForAll()
        }
        #expect(try await fixture.outbox.status().waitingCount == 5)
    }

    @Test("a key is deleted after 30 days") func forgotten() async throws {
        try await fixture.addDevice("phone")
        try await fixture.enqueue(to: .everyone, key: "k")
        fixture.time.advance(by: .seconds(30 * 86_400 + 1))
        try await fixture.outbox.purge(.expired)
        #expect(try await fixture.enqueue(to: .everyone, key: "k").enqueuedCount == 1)
    }

    @Test("content that can't be sealed enqueues nothing") func tooLarge() async throws {
        for number in 0..<3 { try await fixture.addDevice("d\(number)") }
        await #expect(throws: OutboxError.self) {
            try await fixture.enqueue(String(repeating: "x", count: 5_000), to: .everyone, key: "k")
        }
        #expect(try await fixture.outbox.status().waitingCount == 0)
        #expect(try await fixture.enqueue("short", to: .everyone, key: "k").enqueuedCount == 3)
    }

    @Test("content that fits every device but a hybrid one skips it in a broadcast, and is refused if sent to it alone")
    func tooLargeForHybrid() async throws {
        try await fixture.addDevice("classical")
        try await fixture.addDevice("hybrid", identity: DevicePrivateKey(.hybrid))
        let content = Content(body: String(repeating: "x", count: 2_000))
        let report = try await fixture.outbox.enqueue(
            OutgoingMessage(content), to: .everyone, from: fixture.sealer, includingUnverified: true)
        #expect((report.enqueuedCount, report.skipped) == (1, [.tooLarge: 1]))
        for audience in [Audience.device("hybrid"), .user("anna")] {
            await #expect(throws: OutboxError.self) {
                try await fixture.outbox.enqueue(
                    OutgoingMessage(content), to: audience, from: fixture.sealer, includingUnverified: true)
            }
        }
        #expect(try await fixture.outbox.status().waitingCount == 1)
        #expect(try await fixture.enqueue("short", to: .everyone).enqueuedCount == 2)
    }

    @Test("a sender that requires hybrid keys skips the other devices, and names the first hundred")
    func notHybrid() async throws {
        try await fixture.addDevices(0..<120)
        try await fixture.addDevice("hybrid", identity: DevicePrivateKey(.hybrid))
        let sealer = Sealer(
            sender: fixture.sender, topic: Fixture.topic, safeDefault: "You have a new message!", requiresHybrid: true)
        for (audience, count) in [(Audience.everyone, 120), (.user("anna"), 120), (.device("d7"), 1)] {
            let report = try await fixture.outbox.enqueue(
                OutgoingMessage(Content(body: "Hello")), to: audience, from: sealer, includingUnverified: true)
            #expect((report.enqueuedCount, report.skipped) == (count == 1 ? 0 : 1, [.notHybrid: count]))
            #expect(report.notHybrid.count == min(count, 100) && report.notHybrid.contains("d7"))
        }
        let transport = ScriptedTransport()
        try await fixture.deliver(transport)
        #expect(transport.delivered.all.map(\.address) == [Fixture.address("hybrid"), Fixture.address("hybrid")])
    }

    @Test("a push expires before the device erases its key; one that would expire later is refused") func keeps()
        async throws
    {
        let enrollments = [EnrollmentPrivateKey(), EnrollmentPrivateKey()]
        for (enrollment, days) in zip(enrollments, [3, 30]) {
            let recipient = DevicePrivateKey().recipient
            let record = try DeviceRecord(
                of: [recipient], topic: Fixture.topic, counter: 1, created: fixture.now,
                expires: fixture.now.advanced(bySeconds: 90 * 86_400), keeps: days, signedBy: enrollment)
            let name = "keeps\(days)"
            try await fixture.outbox.register(
                RegisteredDevice(
                    name: DeviceName(parsing: name)!, user: "anna", topic: Fixture.topic,
                    keys: .enrolled(
                        EnrolledDevice(loading: enrollment.enrollment, record: record, proven: [recipient])),
                    address: .active(Fixture.address(name), registered: fixture.now)))
        }
        let week = fixture.now.advanced(bySeconds: 7 * 86_400)
        var content = Content(body: "Hello")
        content.sent = fixture.now
        let end = fixture.now.advanced(bySeconds: 3 * 86_400)
        #expect(
            try await fixture.outbox.enqueue(OutgoingMessage(content), to: .user("anna"), from: fixture.sealer)
                .enqueuedCount == 2)
        let transport = ScriptedTransport()
        try await fixture.deliver(transport)
        #expect(
            Set(transport.delivered.all.map { "\($0.address == Fixture.address("keeps3")) \($0.expiration == end)" })
                == ["true true", "false false"])
        var lasting = content
        lasting.expires = week
        // The expiry to fill in has passed.
        var old = content
        old.sent = Timestamp.now().advanced(bySeconds: -3 * 86_400 - 1)
        for (content, expiration) in [(lasting, nil), (content, week), (old, nil)] {
            for audience in [Audience.device("keeps3"), .user("anna")] {
                await #expect(throws: OutboxError.seal(.expiresTooLate(days: 3))) {
                    try await fixture.outbox.enqueue(
                        OutgoingMessage(content, expiration: expiration), to: audience, from: fixture.sealer)
                }
            }
            let report = try await fixture.outbox.enqueue(
                OutgoingMessage(content, expiration: expiration), to: .everyone, from: fixture.sealer)
            #expect((report.enqueuedCount, report.skipped) == (1, [.expiresTooLate: 1]))
        }
        // A push that Apple hasn't accepted in three days is dropped here, too.
        try await fixture.deliver(transport)
        // The drift that is allowed doesn't lengthen that time.
        var drifting = content
        drifting.expires = end.advanced(bySeconds: 1_800)
        for content in [content, drifting] {
            try await fixture.outbox.enqueue(OutgoingMessage(content), to: .device("keeps3"), from: fixture.sealer)
        }
        fixture.time.advance(by: .seconds(3 * 86_400 + 1))
        try await fixture.outbox.purge(.expired)
        #expect(try await fixture.outbox.status().waitingCount == 0)
    }

    @Test("a broadcast reaches every device in batches and reports its progress; devices of other apps get no push")
    func everyone() async throws {
        try await fixture.addDevices(0..<2_300)
        let other = Sealer(sender: fixture.sender, topic: "com.example.other", safeDefault: "New")
        let steps = Collected<Int>()
        let report = try await fixture.outbox.enqueue(
            OutgoingMessage(Content(body: "Hello")), to: .everyone, from: fixture.sealer, includingUnverified: true
        ) { steps.add($0.enqueuedCount) }
        #expect(report.enqueuedCount == 2_300)
        #expect(steps.all == [1_000, 2_000, 2_300])
        #expect(try await fixture.outbox.status().waitingCount == 2_300)
        if StoreKind.databases.contains(.current) {
            #expect(try await fixture.number("SELECT count(*) FROM ranges") == 0)
        }
        let none = try await fixture.outbox.enqueue(
            OutgoingMessage(Content(body: "Hello")), to: .everyone, from: other, includingUnverified: true)
        #expect(none.enqueuedCount == 0)
        let skipped = try await fixture.outbox.enqueue(
            OutgoingMessage(Content(body: "Hello")), to: .device("d0"), from: other, includingUnverified: true)
        #expect(skipped.skipped == [.otherTopic: 1])
    }

    @Test("a range that one caller has begun but not stored is done by others, and can't be stored twice") func begun()
        async throws
    {
        try await fixture.addDevices(0..<1_500)
        let store = fixture.outbox.store
        let order = self.order(under: "k")
        let (first, second) = (try await store.candidates(for: order), try await store.candidates(for: order))
        #expect((first.candidates.count, second.candidates.count) == (1_000, 500))
        // There is no third range: it is one of the two again.
        let third = try await store.candidates(for: order)
        #expect(
            [first, second].contains { $0.range?.start == third.range?.start && $0.range?.last == third.range?.last })
        #expect(!third.isDone)

        let report = try await fixture.enqueue(to: .everyone, key: "k")
        #expect(report.enqueuedCount == 1_500)
        for batch in [first, second] {
            let sealed = try await sealed(batch, order)
            #expect(sealed.count == batch.candidates.count)
            #expect(try await store.enqueue(sealed, of: batch, order) == false)
        }
        #expect(try await store.candidates(for: order).isDone)
        #expect(try await fixture.outbox.status().waitingCount == 1_500)
    }

    @Test("in a store that loses writes, enqueueing ends with an error", .inFile) func forgetful() async throws {
        try await fixture.addDevice("phone")
        try await fixture.execute("CREATE TRIGGER forget BEFORE DELETE ON ranges BEGIN SELECT RAISE(IGNORE); END")
        await #expect(throws: OutboxError.damaged) { try await fixture.enqueue(to: .everyone, key: "k") }
        #expect(try await fixture.outbox.status().waitingCount == 0)
    }

    @Test("a device that changes during sealing gets a push sealed for its new state", .withAlerts)
    func changed() async throws {
        for number in 0..<3 { try await fixture.addDevice("d\(number)") }
        let (store, order) = (fixture.outbox.store, self.order(under: "k"))
        let batch = try await store.candidates(for: order)
        let sealed = try await sealed(batch, order)
        let identity = DevicePrivateKey()
        try await fixture.addDevice("d1", identity: identity)
        #expect(try await store.enqueue(sealed, of: batch, order) == false)
        #expect(try await fixture.outbox.status().waitingCount == 0)
        #expect(try await fixture.enqueue(to: .everyone, key: "k").enqueuedCount == 3)
        let transport = ScriptedTransport()
        try await fixture.deliver(transport)
        let push = try #require(transport.delivered.all.first { $0.address == Fixture.address("d1") })
        #expect(try fixture.body(of: push, for: identity) == "Hello")
    }

    private func sealed(_ batch: EnqueueBatch, _ order: EnqueueOrder) async throws -> [EnqueueBatch.Sealed] {
        var skipped = EnqueueBatch.Skipped()
        var contents = PreparedContents(order, from: fixture.sealer)
        return try await batch.sealed(order, &contents, with: fixture.sealer, at: fixture.now, skipped: &skipped)
    }

    private func order(under key: String) -> EnqueueOrder {
        EnqueueOrder(
            content: Content(body: "Hello"), topic: Fixture.topic, audience: .everyone, priority: .immediate,
            expiration: nil, includesUnverified: true, key: IdempotencyKey(key),
            sealedBy: SealedBy(fixture.sealer), outboxKey: Fixture.key)
    }

    @Test("an audience without devices gives a suitable error") func nobody() async throws {
        await #expect(throws: OutboxError.unknownDevice) { try await fixture.enqueue(to: .device("d")) }
        await #expect(throws: OutboxError.unknownUser) { try await fixture.enqueue(to: .user("anna")) }
        let report = try await fixture.enqueue(to: .everyone)
        #expect((report.enqueuedCount, report.skipped) == (0, [:]))
    }

    @Test("status counts by age") func ages() async throws {
        try await fixture.addDevice("phone")
        for _ in 0..<3 { try await fixture.enqueue(to: .everyone) }
        fixture.time.advance(by: .seconds(7_200))
        for _ in 0..<2 { try await fixture.enqueue(to: .everyone) }
        let status = try await fixture.outbox.status()
        #expect(status.waitingByAge.sorted { $0.key < $1.key }.map(\.value) == [3, 3, 0, 0])
        #expect(status.queues.due == 1)
        #expect(status.waitingCount == 5)
    }
}
