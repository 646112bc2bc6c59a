import Foundation
import TestPrograms
import TestSupport
import Testing

@testable import PushOutbox

/// Replays what the proofs' model of leases does on the real stores: each of its transitions is a call, and after each, the same
/// pushes must be waiting. So a claim that SPIN proves of the model says something about the stores.
@Suite("The model of leases, replayed", .overStores, .blocking) struct LeaseModelTests {
    /// One line that a simulation prints.
    private struct Step: CustomStringConvertible {
        let event: Substring
        let courier: Int
        let message: Int
        /// Whether messages 1 and 2 wait afterward.
        let waiting: [Bool]
        let description: String

        init?(_ line: Substring) {
            guard let match = line.wholeMatch(of: /([a-z]+) courier=(\d) message=(\d) waiting=(\d),(\d)/) else {
                return nil
            }
            (event, courier, message) = (match.1, Int(match.2)!, Int(match.3)!)
            waiting = [match.4 == "1", match.5 == "1"]
            description = String(line)
        }
    }

    /// Simulations, and a way to the event that chance hardly finds: a courier that comes in vain.
    private static let traces = Result {
        let model = ProofModel("leases")
        return (try model.simulations(1...30) + [model.way(to: "tell(vain, 0)")]).map { name, lines in
            (name: name, steps: lines.compactMap(Step.init))
        }
    }

    @Test("Every simulation does the same on the outbox") func replayed() async throws {
        let traces = try Self.traces.get()
        let events = Set(traces.flatMap { $0.steps.map(\.event) })
        #expect(events == ["enqueue", "take", "vain", "accept", "again", "expire", "kill"])
        for (name, steps) in traces {
            var replay = try await Replay()
            for (number, step) in steps.enumerated() {
                let difference = try await replay.take(step)
                try #require(difference == nil, "\(name), step \(number + 1), \(step): \(difference ?? "")")
            }
            #expect(try await replay.isEmpty, "\(name)")
        }
    }

    private struct Replay {
        private let fixture: Fixture
        private var held: [Lease?] = [nil, nil]
        /// The entry of each message, once it was leased.
        private var entries: [Int: Int64] = [:]
        private var number: Int64 = 0

        init() async throws {
            fixture = try await Fixture()
            try await fixture.addDevice("phone")
        }

        var isEmpty: Bool { get async throws { try await fixture.outbox.status().waitingCount == 0 } }

        /// Makes the call of a transition, and returns what differs from the model.
        mutating func take(_ step: Step) async throws -> String? {
            switch step.event {
            case "enqueue": try await fixture.enqueue("\(step.message)", to: .device("phone"))
            case "take":
                number += 1
                guard let lease = try await fixture.outbox.take(number).first else { return "there is no lease" }
                held[step.courier] = lease
                guard entries[step.message] ?? lease.entry == lease.entry else { return "it leased another push" }
                entries[step.message] = lease.entry
                if let first = entries[1], let second = entries[2], first >= second { return "the order is wrong" }
            case "vain":
                number += 1
                if try await !fixture.outbox.take(number).isEmpty { return "there is a lease" }
            case "accept": try await settle(step.courier, .accepted)
            case "again": try await settle(step.courier, .later(.zero))
            // A killed courier tells nobody.
            case "kill": held[0] = nil
            case "expire": fixture.time.advance(by: .seconds(60))
            default: return "it is unknown"
            }
            let count = try await fixture.outbox.status().waitingCount
            return count == step.waiting.count(where: \.self) ? nil : "\(count) are waiting"
        }

        private mutating func settle(_ courier: Int, _ settlement: Settlement) async throws {
            let lease = try #require(held[courier])
            held[courier] = nil
            _ = try await fixture.outbox.settle([(lease, settlement)], taking: nil)
        }
    }
}
