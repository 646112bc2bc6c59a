import NIOCore
import NIOPosix
import PushSender
import TestSupport
import Testing

@testable import PushAPNs

@Suite("Deadlines for every wait")
struct DeadlineTests {
    @Test("a push without a response fails at its deadline, its stream is reset, and the next works")
    func request() async throws {
        let rig = try await Rig { if $0.push != 0 { $0.accept() } }
        async let silent = rig.outcome(0)
        try await eventually("it is sent") { rig.server.seen.requests.count == 1 }
        try await rig.pass(.seconds(29))
        try await eventually("the ping is answered") { try await rig.transport.pingIsAnswered }
        // Silence isn't the reason, because the connection answers pings.
        rig.clock.advance(.seconds(1))
        #expect(await silent.error == .timedOut)
        try await eventually("the stream is reset") { rig.server.seen.resetCount == 1 }
        #expect(await rig.outcome(1).isAccepted)
        #expect(rig.server.seen.connectionCount == 1)
    }

    @Test("a refusal with an endless body keeps its status at the deadline") func slowBody() async throws {
        let rig = try await Rig {
            if $0.push == 1 { $0.accept() } else { $0.answer(400, body: Array("{\"rea".utf8), ends: false) }
        }
        rig.trust([0, 1])
        #expect(await rig.outcome(1).isAccepted)
        async let slow = rig.outcome(0)
        try await eventually("it is sent") { rig.server.seen.requests.count == 2 }
        // On the same connection, so anything sent earlier has also arrived.
        #expect(await rig.outcome(1).isAccepted)
        rig.clock.advance(.seconds(30))
        #expect(await slow.refusal == APNsRefusal(status: 400, reason: nil))
    }

    @Test("if a server accepts connections but stays silent, a push is unreachable after three attempts")
    func connect() async throws {
        let mute = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let clock = ManualClock()
        let transport = try Rig.transport(
            to: mute.localAddress?.port ?? 0, clock: clock,
            configure: .withoutDeadlines(but: { $0.deadlines.connect = .seconds(5) }))
        await clock.jumping(for: transport, isMute: true) {
            await #expect(throws: PushTransportError.unreachable("no connection within 5000 ms")) {
                _ = try await transport.deliver(Rig.request())
            }
        }
        await transport.shutDown()
        try await mute.close()
    }

    @Test("a connection that doesn't answer a ping is replaced, and its pushes fail as lost")
    func ping() async throws {
        let rig = try await Rig(configure: .changed { $0.deadlines.request = .seconds(1_000_000) }) {
            if $0.push == 0 { $0.connection.fallSilent() } else { $0.accept() }
        }
        rig.trust(0..<5)
        #expect(await rig.outcome(1).isAccepted)
        let silent = Task { await rig.outcome(0) }
        try await eventually("it is sent") { rig.server.seen.requests.count == 2 }
        // It's pinged and then closed. A late frame has delayed that.
        for _ in 1...4 { try await rig.pass(.seconds(10)) }
        #expect(await silent.value.error == .connectionLost("no answer to a ping"))
        rig.clock.advance(.milliseconds(250))
        #expect(await rig.outcome(2).isAccepted)
        #expect(rig.server.seen.connectionCount == 2)
    }

    @Test("an idle connection is pinged every hour, and kept while it answers") func idlePing() async throws {
        let rig = try await Rig(
            configure: .changed {
                $0.deadlines.ping = .seconds(1_000_000)
                $0.deadlines.idle = .seconds(100_000_000)
            })
        #expect(await rig.outcome().isAccepted)
        for count in 1...3 {
            try await rig.pass(.seconds(3_599))
            #expect(rig.server.seen.pingCount == count - 1)
            try await rig.pass(.seconds(1))
            // A late frame has delayed it, by an hour at most.
            var lateMinutes = 0
            try await eventually("ping \(count)") {
                if rig.server.seen.pingCount < count, lateMinutes < 60 {
                    rig.clock.advance(.seconds(60))
                    lateMinutes += 1
                }
                return rig.server.seen.pingCount == count
            }
            try await eventually("its answer") { try await rig.transport.pingIsAnswered }
        }
        #expect(await rig.outcome().isAccepted)
        #expect(rig.server.seen.liveConnectionCount == 2, "one for each pool")
    }

    @Test("an unused connection is closed after a day") func idle() async throws {
        let rig = try await Rig(configure: .changed { $0.deadlines.pingWhileIdle = .seconds(1_000_000) })
        #expect(await rig.outcome().isAccepted)
        #expect(rig.server.seen.liveConnectionCount == 1)
        rig.clock.advance(.seconds(86_400))
        try await eventually("it is closed") { rig.server.seen.liveConnectionCount == 0 }
        #expect(await rig.outcome().isAccepted)
    }

    @Test("a push that waits for a stream until its deadline was not sent") func waiting() async throws {
        let rig = try await Rig { $0.putAside() }
        async let outcomes = rig.deliver(0..<3)
        try await eventually("one is sent") { rig.server.seen.waiting.count == 1 }
        try await eventually("the others wait") { try await rig.transport.waitingCount == 2 }
        rig.clock.advance(.seconds(30))
        let errors = await outcomes.map { $0.error }
        #expect(errors.filter { $0 == .timedOut }.count == 1)
        #expect(errors.filter { $0 == .unreachable("no free stream in time") }.count == 2)
        #expect(rig.server.seen.requests.count == 1)
    }

    @Test("pushes beyond the waiting limit are rejected at once") func overloaded() async throws {
        let rig = try await Rig(configure: .changed { $0.limits.waitingCount = 10 }) { $0.putAside() }
        async let outcomes = rig.deliver(0..<100)
        try await eventually("one is sent") { rig.server.seen.waiting.count == 1 }
        try await eventually("the others are rejected") { rig.metrics.counter("push_requests", "overloaded") >= 89 }
        rig.clock.advance(.seconds(30))
        let errors = await outcomes.compactMap { $0.error }
        #expect(errors.count == 100)
        #expect(errors.filter { $0 == .overloaded }.count >= 89)
    }
}
