import HostilePeers
import NIOCore
import NIOHTTP2
import PushSender
import TestSupport
import Testing

@testable import PushAPNs

@Suite("Connections that end") struct GoAwayTests {
    @Test(
        "After GOAWAY, announced or not, pushes in flight finish, and unprocessed ones are sent again",
        arguments: [false, true])
    func goAway(isAnnounced: Bool) async throws {
        let log = CollectedLog()
        let rig = try await Rig(log: log, configure: .withoutDeadlines) {
            if $0.connection.number == 1, $0.push != 0 { $0.putAside() } else { $0.accept() }
        }
        rig.trust(0..<20)
        #expect(await rig.outcome(0).isAccepted)
        async let outcomes = rig.deliver(1..<11)
        try await eventually("ten in flight") { rig.server.seen.waiting.count == 10 }
        let held = rig.server.seen.takeWaiting().sorted { $0.streamID < $1.streamID }
        if isAnnounced { held[0].connection.goAway(last: .maxID, reason: nil) }
        held[0].connection.goAway(last: held[3].streamID, reason: "Shutdown")
        try await rig.jumping { try await eventually("six retries") { rig.server.seen.requests.count == 1 + 10 + 6 } }
        for exchange in held[0...3] { exchange.accept() }

        #expect(await outcomes.allSatisfy { $0.isAccepted })
        #expect(Set(rig.server.seen.requests.suffix(6).map { $0.connection }) == [2])
        try await eventually("the old one is closed") { rig.server.seen.liveConnectionCount == 1 }
        #expect(log.text.contains("reason=Shutdown"))
        try await eventually("the reason") { log.text.contains("reason=APNs ended the connection: Shutdown") }
        #expect(rig.server.seen.connectionCount == 2)
    }

    @Test("a push that three connections refuse to process was not sent") func goAwayForEver() async throws {
        let rig = try await Rig(configure: .withoutDeadlines) { $0.connection.goAway(last: 0, reason: nil) }
        let outcome = await rig.jumping { await rig.outcome() }
        #expect(rig.server.seen.requests.count == 3)
        #expect(
            outcome.error == .unreachable("not processed 3 times: APNs ended the connection: NO_ERROR"))
    }

    @Test("a push is sent again after REFUSED_STREAM, and lost after any other reset") func resets() async throws {
        let rig = try await Rig { exchange in
            switch exchange.number {
            case 1: exchange.reset(.refusedStream)
            case 2: exchange.accept()
            default: exchange.reset(.internalError)
            }
        }
        #expect(await rig.outcome(1).isAccepted)
        #expect(rig.server.seen.requests.count == 2)
        #expect(await rig.outcome(1).error == .connectionLost("the stream was reset: INTERNAL_ERROR"))
    }

    @Test(
        "a refusal that concerns the connection ends it",
        arguments: [(503, "Shutdown"), (403, "UnrelatedKeyIdInToken"), (400, "IdleTimeout")])
    func endingReasons(status: Int, reason: String) async throws {
        let rig = try await Rig(configure: .withoutDeadlines) {
            if $0.number == 2 { $0.refuse(status, reason) } else { $0.accept() }
        }
        rig.trust([0])
        #expect(await rig.outcome().isAccepted)
        #expect(await rig.outcome().refusal?.advice == .wait)
        #expect(await rig.jumping { await rig.outcome() }.isAccepted)
        #expect(rig.server.seen.requests.map { $0.connection } == [1, 1, 2])
    }

    @Test("a cut connection's pushes fail as lost, and the next push gets a new connection") func cut() async throws {
        let rig = try await Rig(configure: .withoutDeadlines) {
            if $0.connection.number == 1 { $0.connection.cut() } else { $0.accept() }
        }
        guard case .connectionLost? = await rig.outcome(0).error else {
            Issue.record("not lost")
            return
        }
        #expect(await rig.jumping { await rig.outcome(0) }.isAccepted)
    }

    @Test("if no server listens, a push is unreachable, and a server that comes back is found")
    func reconnection() async throws {
        let port = LoopbackServer.freePort()
        let clock = ManualClock()
        let transport = try Rig.transport(to: port, clock: clock, configure: .withoutDeadlines)
        await clock.jumping(for: transport) {
            let error = await #expect(throws: PushTransportError.self) {
                _ = try await transport.deliver(Rig.request())
            }
            guard case .unreachable(let reason) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason == "localhost:\(port): Connection refused")
        }
        let second = try await TestServer(port: port)
        let answer = try await clock.jumping(for: transport) { try await transport.deliver(Rig.request()) }
        #expect(answer == .accepted(uniqueID: nil))
        await second.stop()
        await transport.shutDown()
    }

    @Test("the wait before the next connection doubles up to its limit, with jitter, and a success resets it")
    func backoff() {
        var backoff = Backoff(first: .milliseconds(100), longest: .seconds(2))
        var waits: [Int64] = []
        for _ in 0..<8 {
            backoff.failed(now: .uptimeNanoseconds(0), chance: 0)
            waits.append(Int64((backoff.until ?? .distantFuture).uptimeNanoseconds) / 1_000_000)
        }
        #expect(waits == [50, 100, 200, 400, 800, 1_000, 1_000, 1_000])
        backoff.failed(now: .uptimeNanoseconds(0), chance: 0.999_999)
        #expect(!backoff.allows(.uptimeNanoseconds(1_999_000_000)))
        #expect(backoff.allows(.uptimeNanoseconds(2_000_000_000)))
        backoff.succeeded()
        #expect(backoff.allows(.uptimeNanoseconds(0)))
    }
}
