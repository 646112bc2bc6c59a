import Foundation
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushOutbox

/// Runs random sequences of every possible event against a plain model of the invariants.
@Suite("Invariants under random events", .overStores) struct InvariantTests {
    @Test(
        "no push is lost, each device's order holds, no two leases hold one device, and identifiers stay the same",
        arguments: 0..<Thoroughness.count(6, thorough: 12))
    func sequences(round: Int) async throws {
        var generator = SeededGenerator(for: "sequences, round \(round)")
        let run = try await Sequence(deviceCount: Int.random(in: 1...6, using: &generator))
        for _ in 0..<250 { try await run.step(using: &generator) }
        try await run.finish()
        #expect(run.acceptedCount > 0)
    }
}

/// An outbox, two couriers' actions, and the model.
private final class Sequence {
    private let fixture: Fixture
    private let deviceCount: Int
    private var outbox: Outbox
    private var number: Int64 = 1
    /// The number of entries that were enqueued and haven't ended, by device.
    private var waiting: [Int]
    /// Leases that a courier holds, or held when it died.
    private var held: [Lease] = []
    /// The time at which each lease ends, in milliseconds.
    private var ends: [Int64: Int64] = [:]
    /// The request of each entry when it was first leased.
    private var first: [Int64: PushRequest] = [:]
    private var newestSent: [Int64: Int64] = [:]
    private var ended: Set<Int64> = []
    private(set) var acceptedCount = 0

    private static let duration = Duration.seconds(60)

    init(deviceCount: Int) async throws {
        fixture = try await Fixture()
        outbox = fixture.outbox
        self.deviceCount = deviceCount
        waiting = Array(repeating: 0, count: deviceCount)
        try await fixture.addDevices(0..<deviceCount)
    }

    func step(using generator: inout SeededGenerator) async throws {
        switch Int.random(in: 0..<20, using: &generator) {
        case 0..<6: try await enqueue(Int.random(in: 0..<deviceCount, using: &generator), using: &generator)
        case 6..<11: try await lease(Int.random(in: 1...4, using: &generator))
        case 11..<16: try await settle(using: &generator)
        case 16: outbox = try await fixture.reopened()
        // A holder dies: its leases are forgotten without notice.
        case 17: held.removeAll()
        case 18: fixture.time.advance(by: .milliseconds(Int.random(in: 0...90_000, using: &generator)))
        default: fixture.time.advance(by: .milliseconds(Int.random(in: -30_000...30_000, using: &generator)))
        }
        let status = try await outbox.status()
        #expect(status.waitingCount + status.deadLetters.values.reduce(0, +) == waiting.reduce(0, +))
    }

    /// Every waiting entry can eventually be delivered.
    func finish() async throws {
        held.removeAll()
        _ = try await outbox.retry()
        for _ in 0..<10_000 {
            fixture.time.advance(by: .seconds(3_600))
            try await lease(100)
            if held.isEmpty { break }
            for lease in held { try await end(lease, .accepted) }
            held.removeAll()
        }
        #expect(waiting.allSatisfy { $0 == 0 }, "lost: \(waiting)")
        #expect(try await outbox.status().waitingCount == 0)
    }

    private func enqueue(_ device: Int, using generator: inout SeededGenerator) async throws {
        let priority: PushPriority = Bool.random(using: &generator) ? .immediate : .considerate
        try await fixture.enqueue(to: .device(DeviceName(parsing: "d\(device)")!), priority: priority)
        waiting[device] += 1
    }

    private func lease(_ count: Int) async throws {
        number += 1_000
        let leases = try await outbox.take(number, count: count, considerate: 1)
        #expect(leases.count <= count)
        let now = fixture.time.now
        for lease in leases {
            #expect(!held.contains { $0.device == lease.device && ends[$0.number] ?? 0 > now }, "two hold one device")
            #expect(!ended.contains(lease.entry), "leased after its end")
            if let earlier = first[lease.entry] { #expect(lease.request == earlier) }
            first[lease.entry] = lease.request
            ends[lease.number] = now + Self.duration.milliseconds
            #expect(lease.entry >= newestSent[lease.device] ?? 0, "sent before an older one")
            newestSent[lease.device] = lease.entry
        }
        held.removeAll { old in leases.contains { $0.device == old.device } }
        held += leases
    }

    private func settle(using generator: inout SeededGenerator) async throws {
        guard let lease = held.randomElement(using: &generator) else { return }
        held.removeAll { $0.number == lease.number }
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<5: try await end(lease, .accepted)
        case 5..<8: _ = try await outbox.settle([(lease, .later(.seconds(30)))], taking: nil)
        case 8: _ = try await outbox.settle([(lease, .returned)], taking: nil)
        default: _ = try await outbox.settle([(lease, .later(.zero))], taking: nil)
        }
    }

    private func end(_ lease: Lease, _ settlement: Settlement) async throws {
        _ = try await outbox.settle([(lease, settlement)], taking: nil)
        guard ended.insert(lease.entry).inserted else { return }
        waiting[Int(lease.device) - 1] -= 1
        acceptedCount += 1
    }
}
