import Foundation
import HostilePeers
import NIOCore
import NIOHTTP2
import NIOPosix
import PushSender
import TestSupport
import Testing

@testable import PushAPNs

@Suite("Delays before reconnecting") struct ReconnectionTests {
    @Test("if a server always ends the connection after one push, the client backs off")
    func oneAtATime() async throws {
        let rig = try await Rig(configure: .withoutDeadlines) { exchange in
            exchange.accept()
            exchange.connection.goAway(last: exchange.streamID, reason: nil)
        }
        rig.trust([1])
        try await rig.jumping {
            for _ in 1...8 {
                #expect(await rig.outcome(1).isAccepted)
                // It closes permanently with this one.
                try await eventually("it is closed") { rig.server.seen.liveConnectionCount == 0 }
            }
        }
        #expect(rig.server.seen.connectionCount == 8)
        // 0.19 s, 0.38 s, 0.75 s, ... 12 s.
        #expect((23.8..<23.9).contains(rig.clock.elapsed))
    }

    @Test("a connection that has worked for ten seconds resets the doubling, and its own end causes a short wait")
    func lasting() async throws {
        let rig = try await Rig(configure: .withoutDeadlines) { exchange in
            exchange.accept()
            if exchange.connection.number <= 5 { exchange.connection.goAway(last: exchange.streamID, reason: nil) }
        }
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
    }

    @Test("a request to slow down is obeyed, however long the connection has lasted") func calm() async throws {
        let rig = try await Rig(configure: .withoutDeadlines)
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
    }

    @Test("while the next connection must wait, a push still fails at its deadline, and the error tells why")
    func deadlineDuringBackoff() async throws {
        // No server listens there, in this test or any other.
        let port = 1
        let clock = ManualClock()
        let transport = try Rig.transport(
            to: port, clock: clock,
            configure: .withoutDeadlines {
                $0.deadlines.request = .seconds(30)
                ($0.deadlines.firstBackoff, $0.deadlines.longestBackoff) = (.seconds(1_000), .seconds(1_000))
            })
        async let refused = #expect(
            throws: PushTransportError.unreachable("localhost:\(port): Connection refused")
        ) { _ = try await transport.deliver(Rig.request()) }
        try await eventually("the next connection must wait") { try await transport.waitsForClock }
        try await eventually("it is the connection that is missing, no longer the token") {
            try await transport.inLoop { $0.pools.contains { $0.problem.hasSuffix("Connection refused") } }
        }
        clock.advance(.seconds(30))
        _ = await refused
        await transport.shutDown()
    }

    @Test("a shutdown while the server is unreachable ends at the deadline of the accepted pushes")
    func shutdownWhileUnreachable() async throws {
        // No server listens there, in this test or any other.
        let clock = ManualClock()
        let transport = try Rig.transport(
            to: 1, clock: clock,
            configure: .changed {
                ($0.deadlines.firstBackoff, $0.deadlines.longestBackoff) = (.seconds(1_000), .seconds(1_000))
            })
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

    @Test("network errors are described in words", arguments: [ECONNREFUSED, ECONNRESET, ENETUNREACH, 9_999])
    func words(code: CInt) {
        let error = IOError(errnoCode: code, reason: "connection reset (error set)")
        let text = ConnectionFault.text(error, at: .production)
        #expect(text.contains("api.push.apple.com:443"))
        #expect(!text.contains("errno") && !text.contains("("))
    }
}
