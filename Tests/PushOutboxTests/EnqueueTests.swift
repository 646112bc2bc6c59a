import Foundation
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushOutbox

@Suite("Enqueueing", .overStores)
struct EnqueueTests {
    private let fixture: Fixture

    init() async throws { fixture = try await Fixture() }

    @Test("twice with one key enqueues once, for a device, a user and everyone")
    func once() async throws {
        for number in 0..<3 { try await fixture.addDevice("d\(number)") }
        for (audience, count) in [(Audience.device("d0"), 1), (.user("anna"), 3), (.everyone, 3)] {
            let key = "key \(count) \(audience)"
            #expect(try await fixture.enqueue("Hello", to: audience, key: key).enqueuedCount == count)
            let again = try await fixture.enqueue("Hello", to: audience, key: key)
            #expect(again.enqueuedCount == 0)
            #expect(again.alreadyEnqueuedCount == count)
        }
        #expect(try await fixture.outbox.status().waitingCount == 7)
    }

    @Test("a key that was used for others is refused")
    func otherAudience() async throws {
        for name in ["a", "b"] { try await fixture.addDevice(name) }
        try await fixture.enqueue("Hello", to: .device("a"), key: "k")
        await #expect(throws: OutboxError.keyUsedForOthers) {
            try await fixture.enqueue("Hello", to: .device("b"), key: "k")
        }
        await #expect(throws: OutboxError.keyUsedForOthers) {
            try await fixture.enqueue("Hello", to: .everyone, key: "k")
        }
    }

    @Test("many at once with one key enqueue once")
    func atOnce() async throws {
        for number in 0..<5 { try await fixture.addDevice("d\(number)") }
        let fixture = fixture
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let outbox = try await fixture.reopened()
                    try await outbox.enqueue(
                        Content(body: "Hello"), to: .everyone, from: fixture.sealer, includingUnverified: true,
                        key: IdempotencyKey("k"))
                }
            }
            try await group.waitForAll()
        }
        #expect(try await fixture.outbox.status().waitingCount == 5)
    }

    @Test("a key is forgotten after 30 days")
    func forgotten() async throws {
        try await fixture.addDevice("phone")
        try await fixture.enqueue("Hello", to: .everyone, key: "k")
        fixture.time.advance(by: .seconds(30 * 86_400 + 1))
        try await fixture.outbox.purge(.stale)
        #expect(try await fixture.enqueue("Hello", to: .everyone, key: "k").enqueuedCount == 1)
    }

    @Test("content that can't be sealed enqueues nothing")
    func tooLarge() async throws {
        for number in 0..<3 { try await fixture.addDevice("d\(number)") }
        await #expect(throws: OutboxError.self) {
            try await fixture.enqueue(String(repeating: "x", count: 5_000), to: .everyone, key: "k")
        }
        #expect(try await fixture.outbox.status().waitingCount == 0)
        #expect(try await fixture.enqueue("short", to: .everyone, key: "k").enqueuedCount == 3)
    }

    @Test("everyone is everyone, over batches, and reports its progress; devices of other apps get nothing")
    func everyone() async throws {
        for number in 0..<2_300 { try await fixture.addDevice("d\(number)") }
        let other = Sealer(sender: fixture.sender, topic: "com.example.other", safeDefault: "New")
        let steps = Collected<Int>()
        let report = try await fixture.outbox.enqueue(
            Content(body: "Hello"), to: .everyone, from: fixture.sealer, includingUnverified: true
        ) { steps.add($0.enqueuedCount) }
        #expect(report.enqueuedCount == 2_300)
        #expect(steps.all == [1_000, 2_000, 2_300])
        let none = try await fixture.outbox.enqueue(
            Content(body: "Hello"), to: .everyone, from: other, includingUnverified: true)
        #expect(none.enqueuedCount == 0)
        let skipped = try await fixture.outbox.enqueue(
            Content(body: "Hello"), to: .device("d0"), from: other, includingUnverified: true)
        #expect(skipped.skipped == [.otherTopic: 1])
    }

    @Test("nobody is an error that says so")
    func nobody() async throws {
        await #expect(throws: OutboxError.unknownDevice) { try await fixture.enqueue("Hello", to: .device("d")) }
        await #expect(throws: OutboxError.unknownUser) { try await fixture.enqueue("Hello", to: .user("anna")) }
        #expect(try await fixture.enqueue("Hello", to: .everyone) == EnqueueReport())
    }

    @Test("status counts by age")
    func ages() async throws {
        try await fixture.addDevice("phone")
        for _ in 0..<3 { try await fixture.enqueue("Hello", to: .everyone) }
        fixture.time.advance(by: .seconds(7_200))
        for _ in 0..<2 { try await fixture.enqueue("Hello", to: .everyone) }
        let status = try await fixture.outbox.status()
        #expect(status.waitingByAge.map { $0.count } == [3, 3, 0, 0])
        #expect(status.queues.due == 1)
        #expect(status.waitingCount == 5)
    }
}
