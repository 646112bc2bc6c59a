import NIOCore
import NIOHPACK
import PushSender
import TestSupport
import Testing

@testable import PushAPNs

@Suite("The state of a connection, against a model") struct ConnectionModelTests {
    @Test(
        "whatever a peer sends, each push has one result, and no window, limit, or order is broken",
        arguments: 0..<Thoroughness.count(40, thorough: 2_000))
    func sequences(round: Int) throws {
        var random = SeededGenerator(for: "sequences, round \(round)")
        var run = try Run(using: &random)
        for _ in 0..<400 {
            try run.step(using: &random)
            if run.isEnded { break }
        }
        run.finish()
    }
}

/// A connection's state, with a peer that follows the protocol most of the time, and a model of what is allowed.
private struct Run {
    private var state: ConnectionState<Int>
    private var now = NIODeadline.start
    /// The open streams, as both sides see them.
    private var streams: [Int32: ModelStream] = [:]
    private var connectionWindow = HTTP2Size.initialWindow
    private var initialWindow: Int
    private var limit: Int
    private var pushCount = 0
    private var lastStreamID: Int32 = -1
    /// The pushes without a result.
    private var open: Set<Int> = []
    private var isClosed = false
    private(set) var isEnded = false

    private struct ModelStream {
        let push: Int
        let bodyByteCount: Int
        var window: Int
        var sentByteCount = 0
        var isBodySent = false
        var hasStatus = false
    }

    init(using random: inout SeededGenerator) throws {
        limit = Int.random(in: 1...20, using: &random)
        initialWindow = [0, 50, 1_000, 65_535].randomElement(using: &random) ?? 0
        state = try .ready(streams: limit, window: initialWindow)
        // Otherwise, most runs would have one stream.
        state.hasSucceeded = Int.random(in: 0..<4, using: &random) > 0
    }

    mutating func step(using random: inout SeededGenerator) throws {
        do throws(ProtocolViolation) {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<35: push(using: &random)
            case 35..<40: cancel(using: &random)
            case 40..<60: try respond(using: &random)
            case 60..<64: try state.reset(streamID(using: &random), code(using: &random), now: now)
            case 64..<70: try settings(using: &random)
            case 70..<84: try widen(using: &random)
            case 84..<87: try state.ping(1, isTaking: true, now: now)
            case 87..<90: try state.pingAnswer(1, now: now)
            case 90..<98:
                now = now + .milliseconds(Int64.random(in: 0..<4_000, using: &random))
                if Bool.random(using: &random) { state.received(now: now) }
                state.tick(now: now, .standard, isWanted: Bool.random(using: &random))
            case 98:
                let last = streamID(using: &random)
                try state.goAway(lastStreamID: last, code(using: &random), ByteBuffer(), now: now)
            default: if Int.random(in: 0..<8, using: &random) == 0 { state.retire(because: "enough", isOurs: true) }
            }
        } catch {
            state.close(because: error)
        }
        perform()
    }

    /// The channel is closed, after which nothing happens.
    mutating func finish() {
        state.end()
        perform()
        #expect(isEnded && open.isEmpty && state.streamCount == 0)
        state.close(because: "again")
        state.tick(now: now + .hours(24), .standard, isWanted: true)
        #expect(state.nextAction() == nil && state.freeStreamCount == 0)
    }

    // MARK: Events

    private mutating func push(using random: inout SeededGenerator) {
        let free = state.freeStreamCount
        #expect(free <= max(0, limit - streams.count), "never more streams than the peer allows")
        guard free > 0 else { return }
        let byteCount = [0, 1, 100, 4_096, 40_000].randomElement(using: &random) ?? 0
        pushCount += 1
        let deadline = now + .seconds(Int64.random(in: 1...30, using: &random))
        let streamID = state.open(pushCount, bodyByteCount: byteCount, deadline: deadline)
        #expect(streamID == lastStreamID + 2)
        lastStreamID = streamID
        streams[streamID] = ModelStream(push: pushCount, bodyByteCount: byteCount, window: initialWindow)
        open.insert(pushCount)
    }

    private mutating func cancel(using random: inout SeededGenerator) {
        guard let (streamID, stream) = streams.randomElement(using: &random) else { return }
        state.cancel(streamID)
        // Its caller has a result already.
        open.remove(stream.push)
    }

    private mutating func respond(using random: inout SeededGenerator) throws(ProtocolViolation) {
        let streamID = streamID(using: &random)
        let isLast = Bool.random(using: &random)
        if streams[streamID]?.hasStatus == true, Int.random(in: 0..<20, using: &random) > 0 {
            try state.data(String(repeating: "x", count: 500), on: streamID, isLast: isLast, now: now)
        } else {
            let status = ["100", "200", "200", "200", "400", "503", "x"].randomElement(using: &random) ?? ""
            if ["200", "400", "503"].contains(status) { streams[streamID]?.hasStatus = true }
            try state.headers([":status": status], byteCount: 5, on: streamID, isLast: isLast, now: now)
        }
    }

    private mutating func settings(using random: inout SeededGenerator) throws(ProtocolViolation) {
        var settings = PeerSettings(sentCount: 2)
        if Bool.random(using: &random) {
            limit = Int.random(in: 0...20, using: &random)
            settings.streamLimit = limit
        }
        if Bool.random(using: &random) {
            let window = [0, 10, 1_000, 65_535].randomElement(using: &random) ?? 0
            for id in streams.keys { streams[id]?.window += window - initialWindow }
            initialWindow = window
            settings.initialWindow = window
        }
        try state.settings(settings, isTaking: true, now: now)
    }

    private mutating func widen(using random: inout SeededGenerator) throws(ProtocolViolation) {
        let increment = Int.random(in: 1...20_000, using: &random)
        if Bool.random(using: &random) {
            connectionWindow += increment
            try state.widen(0, by: increment, now: now)
        } else {
            let streamID = streamID(using: &random)
            streams[streamID]?.window += increment
            try state.widen(streamID, by: increment, now: now)
        }
    }

    /// Usually an open stream's, sometimes a closed one's, and rarely one that was never opened.
    private func streamID(using random: inout SeededGenerator) -> Int32 {
        switch Int.random(in: 0..<300, using: &random) {
        case 0: lastStreamID + 2
        case 1..<30: max(1, lastStreamID - 2 * Int32.random(in: 0...20, using: &random))
        default: streams.keys.sorted().randomElement(using: &random) ?? max(1, lastStreamID)
        }
    }

    private func code(using random: inout SeededGenerator) -> ErrorCode {
        [ErrorCode.noError, .refusedStream, .cancel, .enhanceYourCalm].randomElement(using: &random) ?? .cancel
    }

    // MARK: Actions

    private mutating func perform() {
        while let action = state.nextAction() {
            #expect(!isEnded, "nothing follows the end: \(action)")
            switch action {
            case .data(let push, let streamID, let range, let isLast): sent(push, on: streamID, range, isLast: isLast)
            case .reset(let streamID, _): streams[streamID] = nil
            case .answered(let push, _), .timedOut(let push, _): over(push)
            case .lost(let push, _, _, let surelyUnsent):
                over(push)
                #expect(!surelyUnsent || !isClosed)
            case .close(let isOrderly):
                #expect(!isOrderly || open.isEmpty, "an orderly end waits for all responses")
                isClosed = true
            case .ended:
                #expect(open.isEmpty)
                isEnded = true
            case .acknowledgeSettings, .widenConnection, .ping, .goAway, .limitHeaderTable, .ready, .settled, .slowDown,
                .wentAway, .retired:
                break
            }
        }
        #expect(state.streamCount == streams.count || isEnded)
        for (streamID, stream) in streams where !isEnded && !stream.isBodySent {
            #expect(min(connectionWindow, stream.window) <= 0, "the body of \(streamID) could be sent")
        }
    }

    private mutating func sent(_ push: Int, on streamID: Int32, _ range: Range<Int>, isLast: Bool) {
        guard var stream = streams[streamID] else {
            Issue.record("data on the closed stream \(streamID)")
            return
        }
        #expect(stream.push == push && range.lowerBound == stream.sentByteCount && !stream.isBodySent)
        stream.sentByteCount = range.upperBound
        stream.isBodySent = isLast
        #expect(isLast == (range.upperBound == stream.bodyByteCount))
        if !range.isEmpty {
            stream.window -= range.count
            connectionWindow -= range.count
            #expect(stream.window >= 0 && connectionWindow >= 0, "more bytes than the peer allows")
        }
        streams[streamID] = stream
    }

    private mutating func over(_ push: Int) {
        #expect(open.remove(push) != nil, "push \(push) has a result already")
        for (streamID, stream) in streams where stream.push == push { streams[streamID] = nil }
    }
}
