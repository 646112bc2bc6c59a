import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushOutbox

/// Runs random sequences of all that can end a push, and counts along.
@Suite("Each push ends with exactly one outcome", .overStores) struct EndingTests {
    private let fixture: Fixture

    init() async throws { fixture = try await Fixture() }

    @Test(
        "the outcomes and the waiting pushes always add up to those enqueued, for each message and in all",
        arguments: 0..<Thoroughness.count(3, thorough: 12))
    func sums(round: Int) async throws {
        var generator = SeededGenerator(for: "endings, round \(round)")
        var (messages, number): ([MessageID], Int64) = ([], 0)
        for device in 0..<Self.deviceCount { try await fixture.addDevice("d\(device)") }
        for step in 0..<120 {
            switch Int.random(in: 0..<14, using: &generator) {
            case 0..<5: messages.append(try await enqueue(using: &generator))
            case 5..<10:
                number += 1_000
                for lease in try await fixture.outbox.take(number, count: 3, considerate: 1) {
                    _ = try await fixture.outbox.settle([(lease, settlement(using: &generator))], taking: nil)
                }
            case 10: _ = try await fixture.outbox.retry()
            case 11: try await purge(using: &generator)
            case 12: try await moveDevice(using: &generator)
            default: fixture.time.advance(by: .seconds(Int.random(in: 0...7_200, using: &generator)))
            }
            try await requireSums(messages, after: step)
        }
        try await fixture.outbox.purge(.everything)
        #expect(try await fixture.outbox.status().waitingCount == 0)
        try await requireSums(messages, after: 120)
    }

    @Test("the end of a dead letter stays as it was when the address goes, and is taken back by a retry")
    func deadLetters() async throws {
        try await fixture.addPhone(waiting: 2)
        for (number, end) in [(1, Settlement.refused(reason: "PayloadTooLarge")), (1_000, gone)] {
            let lease = try #require(try await fixture.outbox.take(Int64(number)).first)
            _ = try await fixture.outbox.settle([(lease, end)], taking: nil)
        }
        #expect(
            try await fixture.outbox.status().outcomes == ["refused:PayloadTooLarge": 1, "dropped:Unregistered": 1])

        try await fixture.addDevice("other")
        try await fixture.enqueue(to: .device("other"))
        let lease = try #require(try await fixture.outbox.take(2_000).first)
        _ = try await fixture.outbox.settle([(lease, .refused(reason: "TopicDisallowed"))], taking: nil)
        #expect(try await fixture.outbox.status().outcomes["refused:TopicDisallowed"] == 1)
        // The end is taken back on its own day.
        fixture.time.advance(by: .seconds(2 * 86_400))
        #expect(try await fixture.outbox.retry() == 1)
        #expect(try await fixture.outbox.status().outcomes["refused:TopicDisallowed"] ?? 0 == 0)
        #expect(try await fixture.outbox.remove("other") == 1)
        #expect(try await fixture.outbox.status().outcomes["discarded"] == 1)
    }

    private static let deviceCount = 4

    private var gone: Settlement {
        .addressGone(reason: "Unregistered", since: fixture.now.advanced(bySeconds: 60), otherwise: .seconds(1))
    }

    private func enqueue(using generator: inout SeededGenerator) async throws -> MessageID {
        let device = DeviceName(parsing: "d\(Int.random(in: 0..<Self.deviceCount, using: &generator))")!
        let isShort = Int.random(in: 0..<4, using: &generator) == 0
        return try await fixture.enqueue(
            to: Int.random(in: 0..<3, using: &generator) == 0 ? .everyone : .device(device),
            priority: Bool.random(using: &generator) ? .immediate : .considerate,
            expiration: isShort ? fixture.now.advanced(bySeconds: 1_800) : nil
        ).id
    }

    private func settlement(using generator: inout SeededGenerator) -> Settlement {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0..<2: .accepted
        case 2: .later(.seconds(60))
        case 3: .returned
        case 4..<6: .refused(reason: "PayloadTooLarge")
        case 6: gone
        default: .addressRefused(reason: "BadDeviceToken")
        }
    }

    private func purge(using generator: inout SeededGenerator) async throws {
        let scopes: [PurgeScope] = [
            .expired, .records, .deadLetters(reason: nil), .deadLetters(reason: "PayloadTooLarge"),
            .sealed(by: .anonymous),
        ]
        try await fixture.outbox.purge(scopes.randomElement(using: &generator) ?? .expired)
    }

    /// Gives a device an address, perhaps another device's, or another user or key, which discard what waits.
    private func moveDevice(using generator: inout SeededGenerator) async throws {
        let (device, other) = (
            Int.random(in: 0..<Self.deviceCount, using: &generator),
            Int.random(in: 0..<Self.deviceCount, using: &generator)
        )
        if Int.random(in: 0..<3, using: &generator) == 0 {
            try await fixture.outbox.remove(DeviceName(parsing: "d\(device)")!)
        }
        try await fixture.addDevice("d\(device)", address: Fixture.address("d\(other)"))
    }

    private func requireSums(_ messages: [MessageID], after step: Int) async throws {
        let status = try await fixture.outbox.status()
        var (enqueuedCount, waitingCount) = (0, 0)
        for message in messages {
            // There is none for a message without recipients, such as one to a device that has no address.
            guard let report = try await fixture.outbox.report(on: message) else { continue }
            enqueuedCount += report.enqueuedCount
            waitingCount += report.outcomes[Tally.waiting] ?? 0
            try #require(report.outcomes.values.reduce(0, +) == report.enqueuedCount, "\(report), step \(step)")
        }
        try #require(waitingCount == status.waitingCount, "step \(step)")
        try #require(
            status.outcomes.values.reduce(0, +) + status.waitingCount == enqueuedCount,
            "\(status.outcomes), \(status.waitingCount) waiting, \(enqueuedCount) enqueued, step \(step)")
    }
}
