import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushAPNs
@testable import SimulatedAPNs

@Suite("Faults, from end to end", .serialized) struct FaultTests {
    @Test("every push ends with an answer, or with an error that is right about possible delivery")
    func truth() async throws {
        try await lengthening(.seconds(2), "pushes that end in each way") { quiet in
            let counts = try await endings(whenQuietFor: quiet)
            return counts.accepted > 0 && counts.refused > 0 && counts.maybe > 0
        }
    }

    /// Sends pushes through faults, and counts how they ended.
    ///
    /// - Parameter quiet: The time without progress after which answers count as lost.
    private func endings(whenQuietFor quiet: Duration) async throws -> (accepted: Int, refused: Int, maybe: Int) {
        let ends = try await BothEnds {
            $0.seed = 7
            $0.faults.resets = 0.1
            $0.faults.lostResponses = 0.05
            $0.faults.tooManyRequests = 0.02
            $0.faults.serverErrors = 0.02
            $0.faults.unavailable = 0.02
            $0.faults.goAwayEvery = 50
            $0.faults.latencyMillisecondsMaximum = 20
            $0.unacknowledgedLimit = 10_000
        }
        let core = ends.server.core
        let tokens = try (0..<20).map { try ends.device("device-\($0)") }
        let pushes = (0..<600).map { ends.push(to: tokens[$0 % 20]) }
        let finished = Locked(0)
        let outcomes = await withTaskGroup(of: (String, BothEnds.Outcome).self) { group in
            for push in pushes {
                group.addTask {
                    let outcome = await ends.deliver(push)
                    finished.withLock { $0 += 1 }
                    return (push.apnsID, outcome)
                }
            }
            // Without progress, the missing answers are lost, so let them time out. A busy machine may take seconds for a
            // step.
            group.addTask {
                var (last, quietSeconds) = (-1, 0)
                while case let count = finished.withLock({ $0 }), count < pushes.count {
                    let steps = count + core.counts.requests + core.counts.connections
                    quietSeconds = steps == last ? quietSeconds + 1 : 0
                    if .seconds(quietSeconds) >= quiet { ends.expireRequests() }
                    last = steps
                    try? await Task.sleep(for: .seconds(1))
                }
                return ("", .failure(.canceled))
            }
            return await group.reduce(into: [String: BothEnds.Outcome]()) { $0[$1.0] = $1.1 }
        }
        #expect(outcomes.count == pushes.count + 1)
        let log = try await ends.requests(core.counts.requests)
        let delivered = Set(
            log.filter { ["stored", "replaced"].contains($0["outcome"] as? String) }.compactMap {
                $0["apns-id"] as? String
            })
        var counts = (accepted: 0, refused: 0, maybe: 0, unsent: 0)
        for push in pushes {
            switch outcomes[push.apnsID] {
            case .success(.accepted):
                counts.accepted += 1
                #expect(delivered.contains(push.apnsID))
            case .success(.refused):
                counts.refused += 1
                #expect(!delivered.contains(push.apnsID))
            case .failure(let error) where error.mayHaveBeenDelivered: counts.maybe += 1
            case .failure(let error):
                counts.unsent += 1
                #expect(!delivered.contains(push.apnsID), "\(error)")
            case nil: Issue.record("no outcome")
            }
        }
        core.faults = APNsFaults()
        ends.advance(seconds: 60)
        #expect(try await ends.deliver().isAccepted)
        await ends.stop()
        return (counts.accepted, counts.refused, counts.maybe)
    }

    @Test("a reset or a lost answer leaves the connection usable for other pushes") func one() async throws {
        let ends = try await BothEnds()
        let core = ends.server.core
        // Twice, because a new token gets its own connection.
        #expect(try await ends.deliver().isAccepted)
        #expect(try await ends.deliver().isAccepted)
        core.faults.resets = 1
        let reset = try await ends.deliver()
        #expect(reset.error == .connectionLost("the stream was reset: INTERNAL_ERROR"))
        core.faults = APNsFaults()
        core.faults.lostResponses = 1
        let token = try ends.device()
        async let lost = ends.deliver(ends.push(to: token))
        try await eventually("it is in flight") { core.counts.lostResponses == 1 }
        core.faults = APNsFaults()
        #expect(try await ends.deliver().isAccepted)
        ends.expireRequests()
        #expect(await lost.error == .timedOut)
        #expect(try await ends.deliver().isAccepted)
        #expect(core.counts.connections == 2, "one for new tokens and one for known ones")
        await ends.stop()
    }
}
