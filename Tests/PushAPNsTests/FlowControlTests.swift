import NIOCore
import NIOHPACK
import NIOHTTP2
import PushSender
import TestSupport
import Testing

@testable import PushAPNs

@Suite("Flow control: never more bytes than the peer allows") struct FlowControlTests {
    @Test("bodies arrive intact through windows that are smaller than they are, and that shrink while open")
    func smallWindows() async throws {
        var behavior = ServerBehavior(streams: 50, window: 700)
        behavior.onConnect = { connection in
            for (number, window) in [300, 0, 100, 1_000, 65_535].enumerated() {
                connection.channel.eventLoop.scheduleTask(in: .milliseconds(Int64(40 * (number + 1)))) {
                    connection.send(.settings(.settings([HTTP2Setting(parameter: .initialWindowSize, value: window)])))
                }
            }
        }
        let rig = try await Rig(behavior)
        rig.trust(0..<60)
        await expectWhole(0..<60, byteCount: 2_000, rig)
        #expect(rig.server.seen.connectionCount == 1)
    }

    @Test("pushes wait for the connection's window, and all of them are sent eventually")
    func connectionWindow() async throws {
        let rig = try await Rig(streams: 1_000)
        rig.trust(0..<500)
        // Two megabytes through a window of 65,535 bytes.
        await expectWhole(0..<500, byteCount: 4_000, rig)
        #expect(rig.server.seen.connectionCount == 1)
    }

    @Test("a response that comes before the end of the body is accepted, and the stream is reset")
    func earlyAnswer() async throws {
        var behavior = ServerBehavior(streams: 10, window: 0)
        behavior.onHeaders = { $0.send(.headers(.init(headers: [":status": "403"], endStream: true)), on: $1) }
        let rig = try await Rig(behavior)
        #expect(await rig.outcome(0).refusal?.status == 403)
        #expect(await rig.outcome(1).refusal?.status == 403)
        try await eventually("the streams are reset") { rig.server.seen.resetCount == 2 }
        #expect(rig.server.seen.connectionCount == 1)
    }

    @Test("late responses to abandoned pushes have no effect on others") func lateAnswers() async throws {
        let rig = try await Rig { if $0.push == 0 { $0.putAside() } else { $0.accept() } }
        rig.trust([0, 1])
        #expect(await rig.outcome(1).isAccepted)
        for number in 1...5 {
            let task = Task { await rig.outcome(0) }
            try await eventually("it is sent") { rig.server.seen.waiting.count == 1 }
            let exchange = try #require(rig.server.seen.takeWaiting().first)
            // Bypasses the server's own HTTP/2, which wouldn't respond on a stream that was reset.
            let streamID = UInt8(truncatingIfNeeded: Int(exchange.streamID))
            if number.isMultiple(of: 2) { exchange.connection.sendRaw(FrameReaderTests.frame(1, 4, streamID, [0x88])) }
            task.cancel()
            #expect(await task.value.error == .canceled)
            try await eventually("the stream is reset") { rig.server.seen.resetCount == number }
            let late =
                number.isMultiple(of: 2)
                ? FrameReaderTests.frame(0, 1, streamID, [1, 2, 3]) : FrameReaderTests.frame(1, 5, streamID, [0x88])
            exchange.connection.sendRaw(late)
            #expect(await rig.outcome(1).isAccepted)
        }
        #expect(rig.server.seen.connectionCount == 1)
    }

    private func expectWhole(_ numbers: Range<Int>, byteCount: Int, _ rig: Rig) async {
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for number in numbers {
                let base = Rig.request(number)
                let request = PushRequest(
                    address: base.address, body: Self.body(number, byteCount), topic: base.topic, apnsID: base.apnsID,
                    collapseID: base.collapseID, priority: .immediate, expiration: nil)
                group.addTask {
                    do {
                        return try await rig.transport.deliver(request) == .accepted(uniqueID: nil)
                    } catch {
                        Issue.record("\(number): \(error)")
                        return false
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(outcomes == numbers.count)
        let areWhole = Set(rig.server.seen.requests.map { $0.body }) == Set(numbers.map { Self.body($0, byteCount) })
        #expect(areWhole)
    }

    private static func body(_ number: Int, _ byteCount: Int) -> [UInt8] {
        (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) } + Array("\(number)".utf8)
    }
}
