import Foundation
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushAPNS
@testable import SimulatedAPNs

@Suite("Throttling, from end to end", .serialized) struct ThrottleTests {
    @Test("one bad token throttles its own connection to one stream, and 50 good pushes have theirs for themselves")
    func badToken() async throws {
        let ends = try await BothEnds()
        let core = ends.server.core
        let good = try (0..<50).map { try ends.device("good-\($0)") }
        let unproven = try (0..<3).map { try ends.device("new-\($0)") }
        ends.transport.trust(good, topic: BothEnds.topic)
        // Each lane's connection, and its full width after a first success.
        #expect(await ends.deliver(ends.push(to: good[0])).isAccepted)
        #expect(await ends.deliver(ends.push(to: unproven[0])).isAccepted)
        let bad = try #require(BothEnds.nobody)
        #expect(await ends.deliver(ends.push(to: bad)).refusal?.reason == "BadDeviceToken")

        // Nothing is answered from here on, so that what the server has is what is in flight.
        core.faults.lostResponses = 1
        let before = core.counts.requests
        let pushes = (good + unproven[1...]).map { ends.push(to: $0) }
        async let outcomes = withTaskGroup(of: BothEnds.Outcome.self) { group in
            for push in pushes { group.addTask { await ends.deliver(push) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        try await eventually("50 and 1 in flight") { core.counts.requests - before >= 51 }
        let requests = try await ends.requests(before + 51)
        let paths = Set(good.map { "/3/device/\($0.hexadecimal)" })
        let goodConnections = requests.filter { paths.contains($0["path"] as? String ?? "") }.compactMap {
            $0["connection"] as? Int
        }
        #expect(goodConnections.count == 1 + 50)
        #expect(Set(goodConnections).count == 1, "one connection, all at once")
        let others = requests.dropFirst(before).filter { !paths.contains($0["path"] as? String ?? "") }
        #expect(others.count == 1, "the throttled one takes one at a time")
        #expect(Set(others.compactMap { $0["connection"] as? Int }).isDisjoint(with: goodConnections))
        #expect(core.channels.count == 2)

        // Time runs out for all of them; the one that waited was not sent.
        core.faults = APNsFaults()
        ends.expireRequests()
        let all = await outcomes
        #expect(core.counts.requests == before + 51)
        #expect(all.count { $0.error == .timedOut } == 51)
        #expect(all.count { $0.error?.mayHaveBeenDelivered == false } == 1)
        #expect(await ends.deliver(ends.push(to: good[0])).isAccepted)
        #expect(await ends.deliver(ends.push(to: unproven[1])).isAccepted)
        await ends.stop()
    }

    @Test("too many requests for one device concern that device alone") func deviceRate() async throws {
        let ends = try await BothEnds { configuration in
            configuration.requestsPerDevicePerSecond = 1
            let now = configuration.now()
            configuration.now = { now }
        }
        let (busy, calm) = (try ends.device("busy"), try ends.device("calm"))
        #expect(await ends.deliver(ends.push(to: busy)).isAccepted)
        let refusal = await ends.deliver(ends.push(to: busy)).refusal
        #expect(refusal == APNSRefusal(status: 429, reason: "TooManyRequests"))
        #expect(refusal?.advice == .wait)
        #expect(await ends.deliver(ends.push(to: calm)).isAccepted)
        await ends.stop()
    }
}
