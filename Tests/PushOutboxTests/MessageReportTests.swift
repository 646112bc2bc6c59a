import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushOutbox

@Suite("Message reports", .overForms) struct MessageReportTests {
    private let fixture: Fixture

    init() async throws { fixture = try await Fixture() }

    private func report(_ sent: EnqueueReport) async throws -> MessageReport {
        try #require(try await fixture.outbox.report(on: sent.id))
    }

    @Test("a report lists the outcome by device, for every outcome that a push can have") func byDevice() async throws {
        for number in 0..<4 { try await fixture.addDevice("d\(number)") }
        let sent = try await fixture.enqueue(to: .user("anna"), key: "k")
        let other = try await fixture.enqueue(to: .device("d0"))
        #expect(sent.id != other.id)
        #expect(try await report(sent).outcomes == ["waiting": 4])

        let leases = try await fixture.outbox.take(1, count: 4)
        let ends: [Settlement] = [
            .accepted, .refused(reason: "PayloadTooLarge"), .addressRefused(reason: "DeviceTokenNotForTopic"),
            .addressGone(reason: "Unregistered", since: fixture.now.advanced(bySeconds: 1), otherwise: .zero),
        ]
        _ = try await fixture.outbox.settle(Array(zip(leases, ends)).map { ($0, $1) }, taking: nil)
        let ended = try await report(sent)
        #expect(ended.enqueuedCount == 4)
        let expected = [
            "accepted", "refused:PayloadTooLarge", "refused:DeviceTokenNotForTopic", "dropped:Unregistered",
        ]
        #expect(ended.outcomes == Dictionary(uniqueKeysWithValues: expected.map { ($0, 1) }))
        #expect(Set(ended.devices?.values.map { $0 } ?? []) == Set(expected))
        // A retried push waits again; the same request again is the same message.
        #expect(try await fixture.outbox.retry() == 2)
        #expect(try await report(sent).outcomes == ["accepted": 1, "dropped:Unregistered": 1, "waiting": 2])
        #expect(try await report(fixture.enqueue(to: .user("anna"), key: "k")).enqueuedCount == 4)

        let left = try #require(try await report(sent).devices?.first { $0.value == "waiting" }?.key)
        try await fixture.outbox.remove(left)
        let afterwards = try await report(sent)
        #expect(afterwards.outcomes["discarded"] == 1 && afterwards.devices?[left] == nil)
        #expect(afterwards.devices?.count == 3)
        try await fixture.outbox.purge(.everything)
        #expect(try await report(sent).outcomes["purged"] == 1)
        #expect(try await report(sent).outcomes["waiting"] == nil)
    }

    @Test("a broadcast's report has only counts, even if two calls have enqueued it") func everyone() async throws {
        try await fixture.addDevices(0..<1_100)
        let order = EnqueueOrder(
            content: Content(body: "Hello"), topic: Fixture.topic, audience: .everyone, priority: .immediate,
            expiration: nil, includesUnverified: true, key: IdempotencyKey("k"), sealedBy: SealedBy(fixture.sealer),
            outboxKey: nil)
        // Another process begins, and dies.
        _ = try await fixture.outbox.store.candidates(for: order)
        let sent = try await fixture.enqueue(to: .everyone, key: "k")
        #expect(sent.id == order.message && sent.enqueuedCount == 1_100)
        try await fixture.outbox.remove("d7")
        try await fixture.deliver(until: .empty)
        let told = try await report(sent)
        #expect(told.enqueuedCount == 1_100 && told.devices == nil)
        #expect(told.outcomes == ["accepted": 1_099, "discarded": 1])
    }

    @Test("a report is deleted after 30 days, and a message without recipients is unknown") func forgotten()
        async throws
    {
        try await fixture.addDevice("phone")
        let sent = try await fixture.enqueue(to: .user("anna"), expiration: fixture.now.advanced(bySeconds: 60))
        fixture.time.advance(by: .seconds(3_600))
        try await fixture.outbox.purge(.expired)
        #expect(try await report(sent).outcomes == ["expired": 1])
        fixture.time.advance(by: .seconds(30 * 86_400))
        try await fixture.outbox.purge(.expired)
        #expect(try await fixture.outbox.report(on: sent.id) == nil)
        let other = Sealer(sender: fixture.sender, topic: "com.example.other", safeDefault: "New")
        let nobody = try await fixture.outbox.enqueue(
            OutgoingMessage(Content(body: "b")), to: .user("anna"), from: other)
        #expect(try await fixture.outbox.report(on: nobody.id) == nil)
    }
}
