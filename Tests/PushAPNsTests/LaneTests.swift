import NIOCore
import NIOHTTP2
import PushSender
import Testing

@testable import PushAPNs

@Suite("Proven tokens, and others") struct LaneTests {
    @Test("a token without an accepted push uses its own connection first, and then the proven one")
    func ownConnection() async throws {
        let rig = try await Rig()
        rig.trust([1])
        #expect(await rig.outcome(1).isAccepted)
        #expect(await rig.outcome(2).isAccepted)
        #expect(await rig.outcome(2).isAccepted)
        #expect(await rig.outcome(1).isAccepted)
        #expect(rig.server.seen.requests.map { $0.connection } == [1, 2, 1, 1])
    }

    @Test("a push that is marked as proven uses the proven connection at once") func hint() async throws {
        let rig = try await Rig()
        rig.trust([1])
        #expect(await rig.outcome(1).isAccepted)
        var request = Rig.request(2)
        request.isProven = true
        _ = try await rig.transport.deliver(request)
        #expect(await rig.outcome(3).isAccepted)
        #expect(rig.server.seen.requests.map { $0.connection } == [1, 1, 2])
    }

    @Test("a token that is refused permanently must prove itself again") func refusedToken() async throws {
        let rig = try await Rig {
            if $0.number == 2 { $0.refuse(410, "Unregistered", timestamp: 1_700_000_000_000) } else { $0.accept() }
        }
        rig.trust([1, 2])
        #expect(await rig.outcome(2).isAccepted)
        #expect(await rig.outcome(1).refusal?.advice == .drop)
        #expect(await rig.outcome(1).isAccepted)
        #expect(rig.server.seen.requests.map { $0.connection } == [1, 1, 2])
    }

    @Test("bad tokens throttle only their own connection") func throttling() async throws {
        let rig = try await Rig { exchange in
            guard exchange.push >= 1_000 else { return exchange.accept() }
            // Like Apple: one stream from then on.
            exchange.connection.allow(streams: 1)
            exchange.connection.channel.eventLoop.scheduleTask(in: .milliseconds(20)) {
                exchange.refuse(400, "BadDeviceToken")
            }
        }
        rig.trust(0..<1_000)
        #expect(await rig.outcome(0).isAccepted)
        async let bad = rig.deliver(1_000..<1_020)
        let good = await rig.deliver(0..<1_000)
        #expect(good.allSatisfy { $0.isAccepted })
        #expect(await bad.allSatisfy { $0.refusal?.reason == .badDeviceToken })
        #expect(Set(rig.server.seen.requests.filter { $0.push < 1_000 }.map(\.connection)) == [1])
    }

    @Test("no more tokens are remembered than the limit, and tokens in use stay") func bounded() {
        var proven = ProvenTokens(limit: 1_000)
        var forgottenCount = 0
        proven.insert(-7)
        for fingerprint in 0..<100_000 {
            proven.insert(fingerprint)
            if !proven.contains(-7) { forgottenCount += 1 }
        }
        #expect(forgottenCount == 0)
        #expect(proven.count <= 1_000)
        let found = [99_999, 50_000].map { proven.contains($0) }
        #expect(found == [true, false])
        proven.remove(99_999)
        let isFound = proven.contains(99_999)
        #expect(!isFound)
    }
}
