import Foundation
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushAPNs
@testable import SimulatedAPNs

@Suite("Connections that end and tokens that expire, from end to end", .serialized) struct EndingTests {
    @Test("the transport knows each reason of the local APNs, which lists them independently") func reasons() {
        for reason in LocalAPNsReason.allCases {
            #expect(APNsReason(rawValue: reason.rawValue).meaning != nil, "\(reason)")
        }
    }

    @Test("after GOAWAY with any reason, pushes in flight are answered, and the next uses another connection")
    func goAway() async throws {
        let ends = try await BothEnds()
        let core = ends.server.core
        // Twice, because a new token gets its own connection.
        #expect(try await ends.deliver().isAccepted)
        #expect(try await ends.deliver().isAccepted)
        for reason in [nil] + LocalAPNsReason.allCases {
            let (connections, accepted) = (core.counts.connections, core.counts.accepted)
            core.faults.latencyMillisecondsMinimum = 100
            core.faults.latencyMillisecondsMaximum = 100
            let token = try ends.device()
            async let inFlight = ends.deliver(ends.push(to: token))
            try await eventually("it is in flight") { core.counts.accepted == accepted + 1 }
            ends.server.goAway(reason)
            #expect(await inFlight.isAccepted, "\(String(describing: reason))")
            core.faults = APNsFaults()
            try await eventually("the old connection is closed") { core.channels.isEmpty }
            // Some reasons require a pause between connections.
            ends.advance(seconds: 300)
            let next = try await ends.deliver()
            #expect(next.isAccepted, "\(String(describing: reason)): \(next)")
            #expect(core.counts.connections == connections + 1)
        }
        await ends.stop()
    }

    @Test("with GOAWAY after every third request, each of 60 pushes is answered, over many connections")
    func goAwayEvery() async throws {
        let ends = try await BothEnds { $0.faults.goAwayEvery = 3 }
        let token = try ends.device()
        for number in 0..<60 {
            let outcome = await ends.deliver(ends.push(to: token))
            #expect(outcome.isAccepted, "\(number): \(outcome)")
            // Skip the pauses between connections.
            ends.advance(seconds: 60)
        }
        #expect(ends.server.core.counts.connections >= 20)
        await ends.stop()
    }

    @Test("410 has a reason and a timestamp, and the token is valid again once its device registers")
    func gone() async throws {
        let ends = try await BothEnds()
        let token = try ends.device()
        #expect(ends.server.setState(.unregistered, token: token.hexadecimal, since: 1_700_000_000_123))
        let refusal = await ends.deliver(ends.push(to: token)).refusal
        let since = try #require(Timestamp(secondsSince1970: 1_700_000_000))
        #expect(refusal == APNsRefusal(status: 410, reason: .unregistered, timestamp: since))
        #expect(refusal?.advice == .drop)
        #expect(try ends.device() == token)
        #expect(await ends.deliver(ends.push(to: token)).isAccepted)

        #expect(ends.server.setState(.expired, token: token.hexadecimal, since: 1_700_000_000_999))
        let renewed = try ends.device()
        #expect(renewed != token)
        let expired = await ends.deliver(ends.push(to: token)).refusal
        #expect(expired == APNsRefusal(status: 410, reason: .expiredToken, timestamp: since))
        #expect(await ends.deliver(ends.push(to: renewed)).isAccepted)
        await ends.stop()
    }

    @Test("a late answer counts as timed out and possibly delivered; its connection stays, and the next push works")
    func late() async throws {
        let ends = try await BothEnds()
        let core = ends.server.core
        #expect(try await ends.deliver().isAccepted)
        #expect(try await ends.deliver().isAccepted)
        let token = try ends.device()
        try await lengthening(.seconds(1), "the time runs out before the answer comes") { latency in
            core.faults.latencyMillisecondsMinimum = Int(latency / .milliseconds(1))
            core.faults.latencyMillisecondsMaximum = Int(latency / .milliseconds(1))
            let accepted = core.counts.accepted
            async let slow = ends.deliver(ends.push(to: token))
            try await eventually("it is in flight") { core.counts.accepted == accepted + 1 }
            ends.expireRequests()
            let outcome = await slow
            #expect(outcome.error == .timedOut || outcome.isAccepted)
            #expect(outcome.isAccepted || outcome.error?.mayHaveBeenDelivered == true)
            return !outcome.isAccepted
        }
        core.faults = APNsFaults()
        #expect(try await ends.deliver().isAccepted)
        await ends.stop()
    }
}
