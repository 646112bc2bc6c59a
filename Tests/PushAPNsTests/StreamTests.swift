import NIOCore
import NIOHTTP2
import PushSender
import TestSupport
import Testing

@testable import PushAPNs

@Suite("Streams: never more than the peer allows") struct StreamTests {
    @Test("one stream until the first success, then as many as the settings allow") func firstSuccess() async throws {
        let rig = try await Rig(streams: 20) { $0.putAside() }
        rig.trust(0..<50)
        async let outcomes = rig.deliver(0..<50)

        try await eventually("the first request") { rig.server.seen.waiting.count == 1 }
        try await eventually("the others wait") { try await rig.transport.waitingCount == 49 }
        try await rig.transport.look()
        #expect(try await rig.transport.waitingCount == 49)
        for exchange in rig.server.seen.takeWaiting() { exchange.accept() }
        try await eventually("the limit") { rig.server.seen.waiting.count == 20 }
        try await rig.transport.look()
        #expect(try await rig.transport.waitingCount == 29)
        let answers = rig.answering()
        #expect(await outcomes.allSatisfy { $0.isAccepted })
        await answers.end()
        #expect(rig.server.seen.mostOpen == 20)
        #expect(rig.server.seen.connectionCount == 1)
    }

    @Test("the stream limit is followed as it goes down to 1 and up again") func limitChanges() async throws {
        let rig = try await Rig(streams: 10) { $0.putAside() }
        rig.trust(0..<100)
        // The first success, and responses after new settings have arrived.
        func one() async {
            let answers = rig.answering()
            #expect(await rig.outcome().isAccepted)
            await answers.end()
        }
        func fill(_ limit: Int) async throws {
            rig.server.seen.forgetMostOpen()
            async let outcomes = rig.deliver(0..<100)
            try await eventually("\(limit) in flight") { rig.server.seen.waiting.count == limit }
            let answers = rig.answering()
            #expect(await outcomes.allSatisfy { $0.isAccepted })
            await answers.end()
            #expect(rig.server.seen.mostOpen == limit)
        }
        await one()
        try await fill(10)
        let connection = try #require(rig.server.seen.lastConnection)
        for limit in [1, 50] {
            connection.allow(streams: limit)
            await one()
            try await fill(limit)
        }
    }

    @Test("another connection is opened when one stays full, but no more than allowed")
    func severalConnections() async throws {
        let rig = try await Rig(streams: 5, configure: .withoutDeadlines(but: { $0.limits.connectionCount = 3 })) {
            if $0.push == 0 { $0.accept() } else { $0.putAside() }
        }
        rig.trust(0..<100)
        #expect(await rig.outcome(0).isAccepted)
        async let outcomes = rig.deliver(1..<40)
        try await eventually("the first connection is full") { rig.server.seen.waiting.count == 5 }
        try await eventually("the others wait") { try await rig.transport.waitingCount == 34 }
        try await rig.transport.look()
        try await rig.pass(.milliseconds(499))
        #expect(rig.server.seen.connectionCount == 1, "only after a while")

        for count in [2, 3] {
            try await rig.jumping {
                try await eventually("connection \(count)") { rig.server.seen.connectionCount == count }
            }
            // The new connection must succeed before it counts as full.
            try await eventually("its first request") {
                rig.server.seen.waiting.contains { $0.connection.number == count }
            }
            for exchange in rig.server.seen.takeWaiting() {
                if exchange.connection.number == count { exchange.accept() } else { exchange.putAside() }
            }
            try await eventually("it is full") { rig.server.seen.waiting.count == 5 * count }
        }
        for _ in 1...2 { try await rig.pass(.seconds(5)) }
        #expect(rig.server.seen.connectionCount == 3)
        let answers = rig.answering()
        #expect(await outcomes.allSatisfy { $0.isAccepted })
        await answers.end()
    }

    @Test("pushes from tasks on the transport's own thread are delivered like any others")
    func ownThread() async throws {
        let rig = try await Rig()
        rig.trust(0..<1_000)
        let acceptedCount = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<1_000 {
                group.addTask(executorPreference: rig.transport.taskExecutor) { await rig.outcome(number).isAccepted }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(acceptedCount == 1_000)
    }

    @Test("a thousand pushes at once all get their own responses") func many() async throws {
        let rig = try await Rig {
            if $0.push.isMultiple(of: 3) { $0.refuse(400, "Number\($0.push)") } else { $0.accept() }
        }
        rig.trust(0..<1_000)
        let outcomes = await rig.deliver(0..<1_000)
        for (number, outcome) in outcomes.enumerated() {
            let isRefused = number.isMultiple(of: 3)
            #expect(isRefused ? outcome.refusal?.reason?.rawValue == "Number\(number)" : outcome.isAccepted)
        }
    }
}
