import Foundation
import HostilePeers
import MetricsTestKit
import NIOCore
import NIOHTTP2
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushAPNs

@Suite("Useless connections, and pushes that come too late")
struct StalledTests {
    @Test("one push without a response doesn't block the others, and its late response is accepted")
    func firstAnswer() async throws {
        let rig = try await Rig(configure: .withoutDeadlines(but: { $0.deadlines.firstAnswer = .seconds(5) })) {
            if $0.connection.number == 1 { $0.putAside() } else { $0.accept() }
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
    }

    @Test("a full connection that no longer responds is replaced") func fullAndSilent() async throws {
        let rig = try await Rig(
            streams: 5, configure: .withoutDeadlines(but: { $0.deadlines.firstAnswer = .seconds(5) })
        ) {
            if $0.connection.number == 1, $0.push != 0 { $0.putAside() } else { $0.accept() }
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
    }

    @Test("a server that allows no streams gets the connection timeout, and then counts as a failure")
    func noStreams() async throws {
        let log = CollectedLog()
        let rig = try await Rig(
            streams: 0, log: log, configure: .withoutDeadlines(but: { $0.deadlines.connect = .seconds(60) }))
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
    }

    @Test("raising a stream limit of 0 releases the push; a huge limit is capped at ten thousand")
    func raised() async throws {
        let log = CollectedLog()
        let rig = try await Rig(streams: 0, log: log)
        async let outcome = rig.outcome()
        try await eventually("ready") { log.text.contains("stream-limit=0") }
        rig.server.seen.lastConnection?.allow(streams: 1)
        #expect(await outcome.isAccepted)

        let second = try await Rig(streams: 0x7fff_ffff, log: log)
        #expect(await second.outcome().isAccepted)
        #expect(log.text.contains("stream-limit=10000\n") || log.text.hasSuffix("stream-limit=10000"))
    }

    @Test(
        "after a stall, no push is sent that has expired or whose caller no longer waits", arguments: [false, true])
    func stale(isDeadline: Bool) async throws {
        // No clock check in between.
        let rig = try await Rig(
            clock: ManualClock(tick: .hours(1)),
            configure: .changed {
                $0.deadlines.request = isDeadline ? .seconds(30) : .seconds(1_000_000)
            }
        ) { if $0.push == 0 { $0.putAside() } else { $0.accept() } }
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
    }

    @Test("canceled pushes make room in the queue, wherever they are in it") func canceledInTheMiddle() async throws {
        let rig = try await Rig(configure: .changed { $0.limits.waitingCount = 10 }) { $0.putAside() }
        let first = Task { await rig.outcome(0) }
        try await eventually("it is sent") { rig.server.seen.waiting.count == 1 }
        func waits(_ count: Int) async throws {
            try await eventually("\(count) wait") {
                (try? rig.metrics.expectGauge("push_waiting").lastValue) == Double(count)
            }
        }
        var tasks: [Task<Result<APNsAnswer, PushTransportError>, Never>] = []
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
        for task in tasks { #expect(await task.value.error == .canceled) }
    }

    @Test("no push is lost when a connection's stream IDs run out: the next push opens another connection")
    func streamIDs() async throws {
        let rig = try await Rig(configure: .withoutDeadlines(but: { $0.limits.firstStreamID = Int32.max - 20 }))
        rig.trust(0..<100)
        #expect(await rig.deliver(0..<100).allSatisfy { $0.isAccepted })
        #expect(rig.server.seen.requests.count == 100)
        #expect(rig.server.seen.connectionCount == 10)
    }
}
