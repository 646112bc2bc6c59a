import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushAPNS
@testable import SimulatedAPNs

@Suite("Provider tokens and clocks, from end to end", .serialized)
struct TokenTests {
    @Test("a good token is taken; one of an unknown key is refused, and taken once the key is registered")
    func keys() async throws {
        let good = try await BothEnds()
        guard case .success(.accepted(let id?)) = try await good.deliver() else {
            Issue.record("not accepted, or without the sandbox's own ID")
            return
        }
        #expect(id.utf8.count == 36)
        await good.stop()

        let (made, p8) = SimulatedAPNs.ProviderKey.make()
        let own = try PushAPNS.ProviderKey(pem: Array(p8.utf8), keyID: made.keyID, teamID: made.teamID)
        let ends = try await BothEnds(key: { _, _ in own })
        let refusal = try await ends.deliver().refusal
        #expect(refusal == APNSRefusal(status: 403, reason: "InvalidProviderToken"))
        #expect(refusal?.advice == .fixKeys)
        #expect(ends.server.deviceCounts.waiting == 0)
        ends.server.register(made)
        #expect(try await ends.deliver().isAccepted)
        await ends.stop()
    }

    @Test("a key of another team is refused, and the keys are to be fixed") func otherTeam() async throws {
        let (key, p8) = SimulatedAPNs.ProviderKey.make()
        let own = try PushAPNS.ProviderKey(pem: Array(p8.utf8), keyID: key.keyID, teamID: "OTHERTEAM1")
        let ends = try await BothEnds(key: { _, server in
            server.register(key)
            return own
        })
        let refusal = try await ends.deliver().refusal
        await ends.stop()
        #expect(refusal?.reason == "InvalidProviderToken" && refusal?.advice == .fixKeys)
    }

    @Test("the sender's clock is two hours ahead or behind: a clear error, and pushes again once it is set")
    func senderClock() async throws {
        for hours in [Int64(2), -2] {
            let ends = try await BothEnds()
            ends.clock.setWall(wrongBySeconds: hours * 3_600)
            let outcome = try await ends.deliver()
            if hours > 0 {
                #expect(outcome.refusal == APNSRefusal(status: 403, reason: "InvalidProviderToken"))
            } else {
                #expect(outcome.error == .wrongClock)
                #expect(outcome.error?.mayHaveBeenDelivered == false)
            }
            #expect(ends.server.deviceCounts.waiting == 0)
            ends.clock.setWall(wrongBySeconds: 0)
            // A token is not made again within 20 minutes.
            ends.advance(seconds: 1_200)
            try await eventually("a push after the clock was set") { try await ends.deliver().isAccepted }
            await ends.stop()
        }
    }

    @Test("the server's clock is two hours ahead or behind: a clear error, and pushes again once it is set")
    func serverClock() async throws {
        for hours in [Int64(2), -2] {
            let ends = try await BothEnds()
            ends.serverError.withLock { $0 = hours * 3_600 }
            let outcome = try await ends.deliver()
            if hours > 0 {
                #expect(outcome.error == .wrongClock)
            } else {
                #expect(outcome.refusal == APNSRefusal(status: 403, reason: "InvalidProviderToken"))
            }
            #expect(ends.server.deviceCounts.waiting == 0)
            ends.serverError.withLock { $0 = 0 }
            // The sender can't know: it tries again with its next token.
            if hours > 0 { ends.advance(seconds: 1_200) }
            try await eventually("a push after the clock was set") { try await ends.deliver().isAccepted }
            await ends.stop()
        }
    }

    @Test("two tokens within 20 minutes, as two senders of one team would make them, do not stop each other")
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
