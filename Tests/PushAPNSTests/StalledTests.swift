import Foundation
import MetricsTestKit
import NIOCore
import NIOHTTP2
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushAPNS

@Suite("Connections that are of no use, and pushes that come too late")
struct StalledTests {
    @Test("one push without an answer does not hold up the others, and its late answer is taken")
    func firstAnswer() async throws {
        var behavior = ServerBehavior()
        behavior.onRequest = { if $0.connection.number == 1 { $0.putAside() } else { $0.accept() } }
        let rig = try await Rig(behavior) {
            withoutDeadlines(&$0)
            $0.deadlines.firstAnswer = .seconds(5)
        }
        rig.trust(0..<5)
        async let outcomes = rig.deliver(0..<5)
        try await eventually("the first is sent") { rig.server.seen.waiting.count == 1 }
        try await eventually("the others wait") { try await rig.transport.waitingCount == 4 }
        try await rig.pass(.milliseconds(4_999))
        #expect(rig.server.seen.connectionCount == 1)
        #expect(try await !rig.transport.waitsForClock)
        try await rig.pass(.milliseconds(1))
        try await rig.jumping { try await eventually("the others") { rig.server.seen.requests.count == 5 } }
        for exchange in rig.server.seen.takeWaiting() { exchange.accept() }
        #expect(await outcomes.allSatisfy { $0.isAccepted })
        await rig.stop()
    }

    @Test("a full connection that answers nothing any more is replaced") func fullAndSilent() async throws {
        var behavior = ServerBehavior()
        behavior.settings = [HTTP2Setting(parameter: .maxConcurrentStreams, value: 5)]
        behavior.onRequest = { exchange in
            if exchange.connection.number == 1, exchange.request.body != Rig.request(0).body {
                exchange.putAside()
            } else {
                exchange.accept()
            }
        }
        let rig = try await Rig(behavior) {
            withoutDeadlines(&$0)
            $0.deadlines.firstAnswer = .seconds(5)
        }
        rig.trust(0..<10)
        #expect(await rig.outcome(0).isAccepted)
        async let outcomes = rig.deliver(1..<8)
        try await eventually("five are sent") { rig.server.seen.waiting.count == 5 }
        try await eventually("the other two wait") { try await rig.transport.waitingCount == 2 }
        try await rig.pass(.seconds(5))
        try await rig.jumping { try await eventually("they are sent") { rig.server.seen.requests.count == 8 } }
        for exchange in rig.server.seen.takeWaiting() { exchange.accept() }
        #expect(await outcomes.allSatisfy { $0.isAccepted })
        await rig.stop()
    }

    @Test("a server that allows no streams is waited for as long as for a connection, then counts as one that failed")
    func noStreams() async throws {
        var behavior = ServerBehavior()
        behavior.settings = [HTTP2Setting(parameter: .maxConcurrentStreams, value: 0)]
        let log = LogHandlerOfTests()
        let rig = try await Rig(behavior, log: log) {
            withoutDeadlines(&$0)
            $0.deadlines.connect = .seconds(60)
        }
        async let outcome = rig.outcome()
        for count in 1...3 {
            try await rig.jumping {
                try await eventually("connection \(count) is ready") {
                    log.text.components(separatedBy: "stream-limit=0").count == count + 1
                }
            }
            #expect(rig.server.seen.connectionCount == count)
            try await rig.pass(.seconds(60))
        }
        #expect(await outcome.error == .unreachable("the server allows no streams"))
        #expect(rig.server.seen.connectionCount == 3)
        #expect(rig.server.seen.requests.isEmpty)
        await rig.stop()
    }

    @Test("a stream limit of 0 that is raised lets the push go; of a huge one ten thousand are used")
    func raised() async throws {
        var behavior = ServerBehavior()
        behavior.settings = [HTTP2Setting(parameter: .maxConcurrentStreams, value: 0)]
        let log = LogHandlerOfTests()
        let rig = try await Rig(behavior, log: log)
        async let outcome = rig.outcome()
        try await eventually("ready") { log.text.contains("stream-limit=0") }
        rig.server.seen.lastConnection?.allow(streams: 1)
        #expect(await outcome.isAccepted)
        await rig.stop()

        behavior.settings = [HTTP2Setting(parameter: .maxConcurrentStreams, value: 0x7fff_ffff)]
        let second = try await Rig(behavior, log: log)
        #expect(await second.outcome().isAccepted)
        #expect(log.text.contains("stream-limit=10000\n") || log.text.hasSuffix("stream-limit=10000"))
        await second.stop()
    }

    @Test(
        "after a stall nothing is sent that nobody waits for any more, or that has expired", arguments: [false, true])
    func stale(isDeadline: Bool) async throws {
        var behavior = ServerBehavior()
        behavior.onRequest = { if $0.request.body == Rig.request(0).body { $0.putAside() } else { $0.accept() } }
        // No look at the clock between.
        let rig = try await Rig(behavior, clock: ManualClock(tick: .hours(1))) {
            $0.deadlines.request = isDeadline ? .seconds(30) : .seconds(1_000_000)
        }
        async let first = rig.outcome(0)
        try await eventually("it is sent") { rig.server.seen.waiting.count == 1 }
        let expiration = isDeadline ? nil : Timestamp(secondsSince1970: 1_800_000_000 + 10)
        async let late = rig.outcome(of: Rig.request(1, expiration: expiration))
        async let once = rig.outcome(of: Rig.request(2, expiration: Timestamp(secondsSince1970: 0)))
        try await eventually("the others wait") { try await rig.transport.waitingCount == 2 }
        rig.clock.advance(.seconds(31))
        for exchange in rig.server.seen.takeWaiting() { exchange.accept() }
        #expect(await first.isAccepted)
        let reason = isDeadline ? "no free stream in time" : "it expired before it could be sent"
        #expect(await late.error == .unreachable(reason))
        #expect(await once.isAccepted != isDeadline)
        #expect(rig.server.seen.requests.count == (isDeadline ? 1 : 2))
        await rig.stop()
    }

    @Test("cancelled pushes make room in the queue, wherever they stand") func cancelledInTheMiddle() async throws {
        var behavior = ServerBehavior()
        behavior.onRequest = { $0.putAside() }
        let rig = try await Rig(behavior) { $0.limits.waitingCount = 10 }
        let first = Task { await rig.outcome(0) }
        try await eventually("it is sent") { rig.server.seen.waiting.count == 1 }
        func waits(_ count: Int) async throws {
            try await eventually("\(count) wait") {
                (try? rig.metrics.expectGauge("push_waiting").lastValue) == Double(count)
            }
        }
        var tasks: [Task<Result<APNSAnswer, PushTransportError>, Never>] = []
        for number in 1...10 {
            tasks.append(Task { await rig.outcome(number) })
            try await waits(number)
        }
        for task in tasks[3..<8] { task.cancel() }
        try await waits(5)
        for number in 11...15 { tasks.append(Task { await rig.outcome(number) }) }
        try await waits(10)
        #expect(await rig.outcome(16).error == .overloaded)
        for task in tasks + [first] { task.cancel() }
        for task in tasks { #expect(await task.value.error == .cancelled) }
        await rig.stop()
    }

    @Test("the last of a connection's stream IDs loses nothing: the next push opens another connection")
    func streamIDs() async throws {
        let rig = try await Rig {
            withoutDeadlines(&$0)
            $0.limits.firstStreamID = Int32.max - 20
        }
        rig.trust(0..<100)
        #expect(await rig.deliver(0..<100).allSatisfy { $0.isAccepted })
        #expect(rig.server.seen.requests.count == 100)
        #expect(rig.server.seen.connectionCount == 10)
        await rig.stop()
    }
}
