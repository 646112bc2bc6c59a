import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushAPNs
@testable import SimulatedAPNs

@Suite("Provider tokens and clocks, from end to end", .serialized)
struct TokenTests {
    @Test(
        "a valid token is accepted; one from another team or an unknown key is refused until the key is registered")
    func keys() async throws {
        let good = try await BothEnds()
        guard case .success(.accepted(let id?)) = try await good.deliver() else {
            Issue.record("not accepted, or without the sandbox's own ID")
            return
        }
        #expect(id.utf8.count == 36)
        await good.stop()

        let (key, p8) = AcceptedProviderKey.make()
        for team in [key.teamID, "OTHERTEAM1"] {
            let isUnknown = team == key.teamID
            let own = try PushAPNs.ProviderKey(pem: Array(p8.utf8), keyID: key.keyID, teamID: team)
            let ends = try await BothEnds(key: { _, server in
                if !isUnknown { server.register(key) }
                return own
            })
            let refusal = try await ends.deliver().refusal
            #expect(refusal == APNsRefusal(status: 403, reason: .invalidProviderToken))
            #expect(refusal?.advice == .fixKeys)
            #expect(ends.server.deviceCounts.waiting == 0)
            if isUnknown {
                ends.server.register(key)
                #expect(try await ends.deliver().isAccepted)
            }
            await ends.stop()
        }
    }

    @Test(
        "a clock that is two hours off at either end causes a clear error, and pushes work again once it's set",
        arguments: [true, false], [Int64(2), -2])
    func clocks(isSenders: Bool, hours: Int64) async throws {
        let ends = try await BothEnds()
        func setClock(wrongBySeconds seconds: Int64) {
            if isSenders {
                ends.clock.setWall(wrongBySeconds: seconds)
            } else {
                ends.serverError.withLock { $0 = seconds }
            }
        }
        setClock(wrongBySeconds: hours * 3_600)
        let outcome = try await ends.deliver()
        // A token from the future is invalid. If one has expired, the sender knows that it is in fact recent.
        if isSenders == (hours > 0) {
            #expect(outcome.refusal == APNsRefusal(status: 403, reason: .invalidProviderToken))
        } else {
            #expect(outcome.error == .wrongClock && outcome.error?.mayHaveBeenDelivered == false)
        }
        #expect(ends.server.deviceCounts.waiting == 0)
        setClock(wrongBySeconds: 0)
        // No new token is created within 20 minutes.
        ends.advance(seconds: 1_200)
        try await eventually("a push after the clock was set") { try await ends.deliver().isAccepted }
        await ends.stop()
    }

    @Test("two tokens within 20 minutes, as from two senders of one team, don't block each other")
    func twoSenders() async throws {
        let ends = try await BothEnds()
        #expect(try await ends.deliver().isAccepted)
        let clock = AdjustableClock()
        clock.setWall(wrongBySeconds: -600)
        let second = try BothEnds.transport(to: ends.server.address.port, key: ends.key, root: ends.root, clock)
        let token = try ends.device()
        #expect(await ends.deliver(ends.push(to: token), over: second).isAccepted)
        #expect(try await ends.deliver().isAccepted)
        await second.shutDown()
        await ends.stop()
    }
}
