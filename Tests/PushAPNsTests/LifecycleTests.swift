import HostilePeers
import Logging
import MetricsTestKit
import PushSender
import ServiceLifecycle
import TestSupport
import Testing

@testable import PushAPNs

@Suite("Cancellation, shutdown, and observation") struct LifecycleTests {
    @Test("a canceled push returns at once and resets its stream, and others continue") func canceled() async throws {
        let rig = try await Rig { if $0.push == 0 { $0.putAside() } else { $0.accept() } }
        rig.trust(0..<5)
        #expect(await rig.outcome(1).isAccepted)
        let task = Task { await rig.outcome(0) }
        try await eventually("it is sent") { rig.server.seen.waiting.count == 1 }
        task.cancel()
        #expect(await task.value.error == .canceled)
        try await eventually("the stream is reset") { rig.server.seen.resetCount == 1 }
        for exchange in rig.server.seen.takeWaiting() { exchange.accept() }
        #expect(await rig.outcome(1).isAccepted)
        #expect(rig.server.seen.connectionCount == 1)
    }

    @Test("a canceled task's push is not sent") func canceledBefore() async throws {
        let rig = try await Rig()
        let task = Task {
            try? await Task.sleep(for: .seconds(60))
            return await rig.outcome(0)
        }
        task.cancel()
        #expect(await task.value.error == .canceled)
        #expect(rig.server.seen.requests.isEmpty)
    }

    @Test("a shutdown rejects new pushes, finishes accepted ones, and closes the connections")
    func shutdown() async throws {
        let rig = try await Rig { if $0.push == 0 { $0.accept() } else { $0.putAside() } }
        rig.trust(0..<200)
        #expect(await rig.outcome(0).isAccepted)
        async let outcomes = rig.deliver(1..<151)
        try await eventually("they are sent") { rig.server.seen.waiting.count == 100 }
        async let ended: Void = rig.transport.shutDown()
        try await eventually("the shutdown begins") { try await rig.transport.isShuttingDown }
        #expect(await rig.outcome(0).error == .shuttingDown)
        let answers = rig.answering()
        #expect(await outcomes.allSatisfy { $0.isAccepted })
        await answers.end()
        await ended
        try await eventually("closed") { rig.server.seen.liveConnectionCount == 0 }
        #expect(await rig.outcome(0).error == .shuttingDown)
    }

    @Test("a service group runs the transport and shuts it down gracefully") func service() async throws {
        let rig = try await Rig()
        let group = ServiceGroup(
            services: [rig.transport], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        async let run: Void = group.run()
        #expect(await rig.outcome().isAccepted)
        await group.triggerGracefulShutdown()
        try await run
        #expect(await rig.outcome().error == .shuttingDown)
    }

    @Test("a released transport closes its connections") func letGo() async throws {
        let server = try await TestServer()
        do {
            let transport = try Rig.transport(to: server.port, clock: ManualClock())
            _ = try await transport.deliver(Rig.request())
            #expect(server.seen.liveConnectionCount == 1)
        }
        try await eventually("it is closed") { server.seen.liveConnectionCount == 0 }
        await server.stop()
    }

    @Test("the log has events and public identifiers, but no whole device tokens, bodies, or provider tokens")
    func log() async throws {
        let log = CollectedLog()
        let rig = try await Rig(log: log) { $0.refuse(410, "Unregistered", timestamp: 1_700_000_000_000) }
        let request = Rig.request(3)
        _ = try await rig.transport.deliver(request)
        #expect(log.text.contains("apns-id=\(request.apnsID)"))
        #expect(log.text.contains("reason=Unregistered"))
        #expect(log.text.contains("token=\(request.address.logged)"))
        #expect(!log.text.contains(request.address.hexadecimal))
        #expect(!log.text.contains("number"))
        #expect(!log.text.contains("bearer"))
    }

    @Test("the metrics count pushes by outcome, times, connections, and token renewals") func metrics() async throws {
        let rig = try await Rig {
            if $0.push == 1 { $0.refuse(400, "BadTopic") } else { $0.accept() }
        }
        _ = await rig.deliver(0..<2)
        _ = await rig.outcome(0)
        #expect(rig.metrics.counter("push_requests", "accepted") == 2)
        #expect(rig.metrics.counter("push_requests", "refused-change") == 1)
        #expect(rig.metrics.counter("push_token_renewals", "signed") == 1)
        #expect(try rig.metrics.expectTimer("push_request_duration").values.count == 3)
        try await eventually("a gauge") { (try? rig.metrics.expectGauge("push_connections").lastValue) == 2 }
        await rig.transport.shutDown()
        #expect(await rig.outcome(0).error == .shuttingDown)
        #expect(rig.metrics.counter("push_requests", "shutting-down") == 1)
    }
}
