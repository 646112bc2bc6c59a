import Foundation
import NIOCore
import NIOHTTP2
import NIOPosix
import PushSender
import TestSupport
import Testing

@testable import PushAPNS

@Suite("How soon the next connection is made") struct ReconnectionTests {
    @Test("a server that takes one push and then ends the connection is not called on ever again at once")
    func oneAtATime() async throws {
        var behavior = ServerBehavior()
        behavior.onRequest = { exchange in
            exchange.accept()
            exchange.connection.goAway(last: exchange.streamID, reason: nil)
        }
        let rig = try await Rig(behavior, configure: withoutDeadlines)
        rig.trust([1])
        try await rig.jumping {
            for _ in 1...8 {
                #expect(await rig.outcome(1).isAccepted)
                // It goes for good with this one.
                try await eventually("it is closed") { rig.server.seen.liveConnectionCount == 0 }
            }
        }
        #expect(rig.server.seen.connectionCount == 8)
        // 0.19 s, 0.38 s, 0.75 s, ... 12 s.
        #expect((23.8..<23.9).contains(rig.clock.elapsed))
        await rig.stop()
    }

    @Test("a connection that has worked for ten seconds ends the doubling, and its own end costs a short wait")
    func lasting() async throws {
        var behavior = ServerBehavior()
        behavior.onRequest = { exchange in
            exchange.accept()
            if exchange.connection.number <= 5 { exchange.connection.goAway(last: exchange.streamID, reason: nil) }
        }
        let rig = try await Rig(behavior, configure: withoutDeadlines)
        rig.trust([1])
        await rig.jumping {
            for _ in 1...6 { #expect(await rig.outcome(1).isAccepted) }
        }
        #expect(rig.server.seen.connectionCount == 6)
        try await rig.pass(.seconds(10))
        rig.server.seen.lastConnection?.goAway(last: 1, reason: nil)
        try await eventually("it is closed") { rig.server.seen.liveConnectionCount == 0 }
        async let next = rig.outcome(1)
        try await eventually("it waits, and is not sent at once") { try await rig.transport.waitsForClock }
        #expect(rig.server.seen.connectionCount == 6)
        rig.clock.advance(.milliseconds(250))
        #expect(await next.isAccepted)
        await rig.stop()
    }

    @Test("a server that asks for calm gets some, however long the connection has lasted") func calm() async throws {
        let rig = try await Rig(configure: withoutDeadlines)
        rig.trust([1])
        #expect(await rig.outcome(1).isAccepted)
        try await rig.pass(.seconds(3_600))
        rig.server.seen.lastConnection?.send(.goAway(lastStreamID: 1, errorCode: .enhanceYourCalm, opaqueData: nil))
        try await eventually("it is closed") { rig.server.seen.liveConnectionCount == 0 }
        async let next = rig.outcome(1)
        try await eventually("it waits") { try await rig.transport.waitsForClock }
        try await rig.pass(.milliseconds(4_900))
        #expect(try await rig.transport.waitsForClock)
        #expect(rig.server.seen.connectionCount == 1)
        rig.clock.advance(.milliseconds(200))
        #expect(await next.isAccepted)
        await rig.stop()
    }

    @Test("two farewells, as Apple sends them: the second says what was processed, and why")
    func twoGoAways() async throws {
        var behavior = ServerBehavior()
        behavior.onRequest = { exchange in
            if exchange.connection.number == 1, exchange.request.body != Rig.request(0).body {
                exchange.putAside()
            } else {
                exchange.accept()
            }
        }
        let log = LogHandlerOfTests()
        let rig = try await Rig(behavior, log: log, configure: withoutDeadlines)
        rig.trust(0..<10)
        #expect(await rig.outcome(0).isAccepted)
        async let outcomes = rig.deliver(1..<4)
        try await eventually("three in flight") { rig.server.seen.waiting.count == 3 }
        let held = rig.server.seen.takeWaiting().sorted { $0.streamID < $1.streamID }
        held[0].connection.goAway(last: .maxID, reason: nil)
        held[0].connection.goAway(last: held[0].streamID, reason: "Shutdown")
        try await rig.jumping { try await eventually("two again") { rig.server.seen.requests.count == 6 } }
        held[0].accept()
        #expect(await outcomes.allSatisfy { $0.isAccepted })
        try await eventually("the reason") { log.text.contains("reason=APNs ended the connection: Shutdown") }
        #expect(rig.server.seen.connectionCount == 2)
        await rig.stop()
    }

    @Test("while the next connection must wait, a push still fails at its deadline, and says why")
    func deadlineDuringBackoff() async throws {
        // Nobody listens there, and no other test ever will.
        let port = 1
        let clock = ManualClock()
        let transport = try Rig.transport(to: port, clock: clock) {
            withoutDeadlines(&$0)
            $0.deadlines.request = .seconds(30)
            $0.deadlines.firstBackoff = .seconds(1_000)
            $0.deadlines.longestBackoff = .seconds(1_000)
        }
        async let refused = #expect(
            throws: PushTransportError.unreachable("connection refused by localhost:\(port)")
        ) { _ = try await transport.deliver(Rig.request()) }
        try await eventually("the next connection must wait") { try await transport.waitsForClock }
        try await eventually("it is the connection that is missing, no longer the token") {
            try await transport.inLoop { $0.lanes.contains { $0.problem.hasPrefix("connection refused") } }
        }
        clock.advance(.seconds(30))
        _ = await refused
        await transport.shutDown()
    }

    @Test("a shutdown while nothing can be reached ends with the deadline of what it has taken")
    func shutdownWhileUnreachable() async throws {
        // Nobody listens there, and no other test ever will.
        let clock = ManualClock()
        let transport = try Rig.transport(to: 1, clock: clock) {
            $0.deadlines.firstBackoff = .seconds(1_000)
            $0.deadlines.longestBackoff = .seconds(1_000)
        }
        let task = Task {
            await #expect(throws: PushTransportError.self) { _ = try await transport.deliver(Rig.request()) }
        }
        try await eventually("the next connection must wait") { try await transport.waitsForClock }
        async let ended: Void = transport.shutDown()
        try await eventually("the shutdown begins") { try await transport.isShuttingDown }
        clock.advance(.seconds(30))
        await ended
        #expect(await task.value != .shuttingDown)
    }

    @Test("errors of the network are named in words", arguments: [ECONNREFUSED, ECONNRESET, ENETUNREACH, 9_999])
    func words(code: CInt) {
        let error = IOError(errnoCode: code, reason: "connection reset (error set)")
        let text = ConnectionFault.text(error, at: .production)
        #expect(text.contains("api.push.apple.com:443"))
        #expect(!text.contains("errno") && !text.contains("("))
    }
}
