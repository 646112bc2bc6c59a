import NIOCore
import NIOHPACK
import PushSender
import Testing

@testable import PushAPNs

/// Pushes are numbers here, and there is no socket.
private typealias State = ConnectionState<Int>

@Suite("The state of a connection") struct ConnectionStateTests {
    // MARK: Pushes

    @Test("a push is one part of data, and its response ends the stream") func onePush() throws {
        var state = try State.ready()
        let stream = state.open(7, bodyByteCount: 300, deadline: .later(30))
        #expect(stream == 1 && state.actions() == [.data(7, on: 1, 0..<300, isLast: true)])
        try state.headers([":status": "200", "apns-unique-id": "u"], byteCount: 40, on: 1, isLast: true, now: .start)
        #expect(state.actions() == [.answered(7, .accepted(uniqueID: "u"))])
        #expect(state.streamCount == 0 && state.open(8, bodyByteCount: 0, deadline: .later(30)) == 3)
        #expect(state.actions() == [.data(8, on: 3, 0..<0, isLast: true)], "an empty body also ends the request")
    }

    @Test("a refusal's body comes in parts, and it isn't a success") func refusal() throws {
        var state = try State.ready()
        state.push(7)
        _ = state.actions()
        try state.headers([":status": "400"], byteCount: 5, on: 1, isLast: false, now: .start)
        try state.data("{\"reason\":", on: 1)
        #expect(state.actions() == [])
        try state.data("\"BadTopic\"}", on: 1, isLast: true)
        #expect(state.actions() == [.answered(7, .refused(APNsRefusal(status: 400, reason: .badTopic)))])
        #expect(!state.hasSucceeded && state.freeStreamCount == 1)
    }

    @Test("until the first success, one stream is free, and then as many as the peer allows, up to our own limit")
    func freeStreams() throws {
        for (limit, expected) in [(0, 0), (1, 1), (50, 50), (1_000_000, 10_000), (nil, 1_000)] {
            var state = State(number: 1, firstStreamID: 1, now: .start)
            #expect(state.freeStreamCount == 0 && !state.isFull && state.isLive)
            try state.settings(PeerSettings(streamLimit: limit, sentCount: 1), isTaking: true, now: .start)
            #expect(state.freeStreamCount == min(1, expected))
            state.hasSucceeded = true
            #expect(state.freeStreamCount == expected && state.isFull == (expected == 0))
        }
        var state = try State.ready(streams: 2)
        state.push(1)
        #expect(state.freeStreamCount == 0 && !state.isFull)
        try state.accept(1)
        state.push(2)
        state.push(3)
        #expect(state.freeStreamCount == 0 && state.isFull)
        try state.settings(PeerSettings(streamLimit: 1, sentCount: 1), isTaking: true, now: .start)
        #expect(state.freeStreamCount == 0 && state.isFull, "the limit can fall below the number of open streams")
    }

    @Test("a canceled push's stream is reset, and frames on it are useless, but not violations") func cancel() throws {
        var state = try State.ready()
        state.push(1)
        _ = state.actions()
        state.cancel(1)
        #expect(state.actions() == [.reset(1, .cancel)])
        state.cancel(1)
        try state.accept(1)
        try state.data("late", on: 1)
        try state.reset(1, .noError, now: .start)
        try state.widen(1, by: 10, now: .start)
        #expect(state.actions() == [] && !state.hasSucceeded)
    }

    @Test("a response before the end of the body resets the stream") func earlyAnswer() throws {
        var state = try State.ready(window: 10)
        state.push(1)
        #expect(state.actions() == [.data(1, on: 1, 0..<10, isLast: false)])
        try state.accept(1)
        #expect(state.actions() == [.reset(1, .cancel), .answered(1, .accepted(uniqueID: nil))])
        try state.widen(0, by: 100, now: .start)
        #expect(state.actions() == [], "its body no longer waits")
    }

    @Test("a body that is too long is cut, and the status stays") func longBody() throws {
        var state = try State.ready()
        state.push(1)
        try state.headers([":status": "500"], byteCount: 5, on: 1, isLast: false, now: .start)
        try state.data(String(repeating: " ", count: 4_097), on: 1)
        #expect(
            state.actions().suffix(2) == [
                .reset(1, .cancel), .answered(1, .refused(APNsRefusal(status: 500, reason: nil))),
            ])
    }

    @Test("a reset after a refusal or a complete status is a response; otherwise, the push is lost")
    func resets() throws {
        let accepted = State.Action.answered(1, .accepted(uniqueID: nil))
        let refused = State.Action.answered(1, .refused(APNsRefusal(status: 503, reason: nil)))
        func lost(_ code: String, _ answer: APNsAnswer? = nil, unsent: Bool = false) -> State.Action {
            .lost(1, answer, reason: "the stream was reset: \(code)", surelyUnsent: unsent)
        }
        let cases: [(status: String?, code: ErrorCode, expected: State.Action)] = [
            (nil, .noError, lost("NO_ERROR")), (nil, .refusedStream, lost("REFUSED_STREAM", unsent: true)),
            (nil, .cancel, lost("CANCEL")), ("200", .noError, accepted),
            ("200", .cancel, lost("CANCEL", .accepted(uniqueID: nil))), ("503", .noError, refused),
            ("503", .refusedStream, refused),
        ]
        for (status, code, expected) in cases {
            var state = try State.ready()
            state.push(1)
            _ = state.actions()
            if let status { try state.headers([":status": status], byteCount: 5, on: 1, isLast: false, now: .start) }
            try state.reset(1, code, now: .start)
            #expect(state.actions() == [expected], "\(status ?? "none") \(code.name)")
        }
    }

    @Test("a frame on a stream that was never opened is a violation") func unopened() throws {
        let frames: [(inout State, Int32) throws -> Void] = [
            { try $0.accept($1) }, { try $0.data("x", on: $1) }, { try $0.reset($1, .cancel, now: .start) },
            { try $0.widen($1, by: 1, now: .start) },
        ]
        for frame in frames {
            for id: Int32 in [2, 3, .max] {
                var state = try State.ready()
                state.push(1)
                let violation = #expect(throws: ProtocolViolation.self) { try frame(&state, id) }
                #expect(violation == ProtocolViolation(.protocolError, "a frame on a stream that was never opened"))
            }
        }
    }

    @Test("the last stream ID is used, and the connection is then retired as fine") func lastStreamID() throws {
        var state = try State.ready(firstStreamID: .max - 4)
        state.push(1)
        #expect(state.phase == .ready)
        try state.accept(.max - 4)
        _ = state.actions()
        state.push(2)
        #expect(state.actions().last == .retired(isOurs: true) && state.phase == .draining)
        try state.accept(.max - 2)
        #expect(state.actions().suffix(2) == [.goAway(.noError), .close(isOrderly: true)])
    }

    // MARK: Windows

    @Test("a body waits for its stream's window and for the connection's, in parts of at most a frame")
    func windows() throws {
        var state = try State.ready(window: 40_000)
        state.hasSucceeded = true
        for push in 1...2 { _ = state.open(push, bodyByteCount: 50_000, deadline: .later(30)) }
        #expect(
            state.actions() == [
                .data(1, on: 1, 0..<16_384, isLast: false), .data(1, on: 1, 16_384..<32_768, isLast: false),
                .data(1, on: 1, 32_768..<40_000, isLast: false), .data(2, on: 3, 0..<16_384, isLast: false),
                .data(2, on: 3, 16_384..<25_535, isLast: false),
            ])
        try state.widen(1, by: 10_000, now: .start)
        #expect(state.actions() == [], "the connection's window is used up")
        try state.widen(0, by: 20_000, now: .start)
        #expect(
            state.actions() == [
                .data(1, on: 1, 40_000..<50_000, isLast: true), .data(2, on: 3, 25_535..<35_535, isLast: false),
            ])
        try state.widen(3, by: 20_000, now: .start)
        try state.widen(0, by: 20_000, now: .start)
        #expect(state.actions() == [.data(2, on: 3, 35_535..<50_000, isLast: true)])
    }

    @Test("bodies that wait keep their order") func waitingOrder() throws {
        var state = try State.ready(window: 10)
        state.hasSucceeded = true
        for push in 1...3 { state.push(push) }
        _ = state.actions()
        try state.widen(0, by: 1, now: .start)
        #expect(state.actions() == [], "all of them wait for their streams' windows")
        try state.settings(PeerSettings(initialWindow: 20, sentCount: 1), isTaking: true, now: .start)
        #expect(
            state.actions().dropFirst() == [
                .data(1, on: 1, 10..<20, isLast: false), .data(2, on: 3, 10..<20, isLast: false),
                .data(3, on: 5, 10..<20, isLast: false),
            ])
    }

    @Test("new settings change the windows of open streams, even below zero") func shrinkingWindow() throws {
        var state = try State.ready(window: 60)
        state.push(1)
        #expect(state.actions() == [.data(1, on: 1, 0..<60, isLast: false)])
        for (window, expected) in [(10, nil), (59, nil), (60, nil), (75, 60..<75), (200, 75..<100)] {
            try state.settings(PeerSettings(initialWindow: window, sentCount: 1), isTaking: true, now: .start)
            let data = expected.map { State.Action.data(1, on: 1, $0, isLast: $0.upperBound == 100) }
            #expect(state.actions() == [.acknowledgeSettings] + [data].compactMap { $0 }, "\(window)")
        }
    }

    @Test("a window above RFC 9113's limit is a violation") func largeWindow() throws {
        var state = try State.ready()
        state.push(1)
        let violation = ProtocolViolation(.flowControlError, "a window that is too large")
        for id: Int32 in [0, 1] {
            #expect(throws: violation) { try state.widen(id, by: HTTP2Size.maximumWindow, now: .start) }
        }
        try state.widen(1, by: HTTP2Size.maximumWindow - 65_435, now: .start)
        #expect(throws: violation) {
            try state.settings(PeerSettings(initialWindow: 65_536, sentCount: 1), isTaking: true, now: .start)
        }
    }

    @Test("the connection's receive window is replenished at half, and more data than allowed is a violation")
    func receiveWindow() throws {
        var state = try State.ready()
        state.push(1)
        state.cancel(1)
        _ = state.actions()
        try state.data(String(repeating: "x", count: 32_768), on: 1)
        #expect(state.actions() == [])
        try state.data("x", on: 1)
        #expect(state.actions() == [.widenConnection(by: 32_769)])
        #expect(throws: ProtocolViolation(.flowControlError, "more data than allowed")) {
            try state.data("x", byteCount: 65_536, on: 1)
        }
    }

    // MARK: The connection

    @Test("settings are acknowledged first, and only the first ones make the connection ready") func settings() throws {
        var state = State(number: 1, firstStreamID: 1, now: .start)
        state.sentSettings()
        let settings = PeerSettings(headerTableByteCounts: [0, 100], streamLimit: 5, sentCount: 3)
        try state.settings(settings, isTaking: true, now: .start)
        let followed: [State.Action] = [.acknowledgeSettings, .limitHeaderTable(to: 0), .limitHeaderTable(to: 100)]
        #expect(state.actions() == followed + [.ready])
        try state.settings(settings, isTaking: true, now: .start)
        #expect(state.actions() == followed)
        try state.settingsAcknowledged()
        #expect(throws: ProtocolViolation(.protocolError, "an unexpected SETTINGS acknowledgment")) {
            try state.settingsAcknowledged()
        }
    }

    @Test("a peer that never reads replies is closed") func untakenReplies() throws {
        var state = try State.ready()
        for _ in 0..<1_000 { try state.ping(1, isTaking: false, now: .start) }
        try state.ping(1, isTaking: true, now: .start)
        for _ in 0..<1_000 { try state.ping(1, isTaking: false, now: .start) }
        #expect(throws: ProtocolViolation(.enhanceYourCalm, "the peer doesn't read replies")) {
            try state.settings(PeerSettings(sentCount: 1), isTaking: false, now: .start)
        }
    }

    @Test("GOAWAY returns the pushes above its last stream, newest first, and the others are still answered")
    func goAway() throws {
        var state = try State.ready()
        state.hasSucceeded = true
        for push in 1...4 { state.push(push) }
        _ = state.actions()
        try state.goAway(lastStreamID: 3, .noError, ByteBuffer(string: #"{"reason":"Shutdown"}"#), now: .start)
        let words = "APNs ended the connection: Shutdown"
        #expect(
            state.actions() == [
                .wentAway(reason: "Shutdown"), .retired(isOurs: false),
                .lost(4, nil, reason: words, surelyUnsent: true), .lost(3, nil, reason: words, surelyUnsent: true),
            ])
        #expect(state.freeStreamCount == 0 && !state.isLive && state.phase == .draining)
        try state.accept(1)
        #expect(state.actions() == [.answered(1, .accepted(uniqueID: nil))])
        try state.accept(3)
        #expect(
            state.actions() == [
                .answered(2, .accepted(uniqueID: nil)), .goAway(.noError), .close(isOrderly: true),
            ])
        state.end()
        #expect(state.actions() == [.ended(reason: words, wasOfUse: true)])
    }

    @Test("the reason in the last GOAWAY is the connection's, and ten are enough") func manyGoAways() throws {
        var state = try State.ready()
        state.push(1)
        for number in 1...10 {
            let body = ByteBuffer(string: "{\"reason\":\"Number\(number)\"}")
            try state.goAway(lastStreamID: .max, .noError, body, now: .start)
        }
        #expect(state.actions().count { $0 == .retired(isOurs: false) } == 1)
        let violation = #expect(throws: ProtocolViolation.self) {
            try state.goAway(lastStreamID: .max, .noError, ByteBuffer(), now: .start)
        }
        state.close(because: try #require(violation))
        let reason = "APNs ended the connection: Number10"
        #expect(
            state.actions() == [
                .goAway(.enhanceYourCalm), .close(isOrderly: false),
                .lost(1, nil, reason: reason, surelyUnsent: false), .ended(reason: reason, wasOfUse: true),
            ])
    }

    @Test("a GOAWAY can ask to slow down, by its code or its reason") func slowDown() throws {
        let cases: [(ErrorCode, String, State.Action?)] = [
            (.noError, "", nil), (.noError, #"{"reason":"Shutdown"}"#, nil), (.enhanceYourCalm, "", .slowDown(nil)),
            (.noError, #"{"reason":"TooManyRequests"}"#, .slowDown(.tooManyRequests)),
            (.noError, #"{"reason":"TooManyWords"}"#, .slowDown(APNsReason(rawValue: "TooManyWords"))),
        ]
        for (code, body, expected) in cases {
            var state = try State.ready()
            try state.goAway(lastStreamID: 0, code, ByteBuffer(string: body), now: .start)
            let actions = state.actions()
            // Before it's retired, since it matters for the next connection.
            #expect(actions.dropFirst().first == expected ?? .retired(isOurs: false), "\(code.name) \(body)")
        }
    }

    @Test("a violation tells the peer, and fails every push in order, with as much of a response as there is")
    func violation() throws {
        var state = try State.ready()
        state.hasSucceeded = true
        for push in 1...3 { state.push(push) }
        try state.headers([":status": "200"], byteCount: 5, on: 3, isLast: false, now: .start)
        _ = state.actions()
        state.close(because: ProtocolViolation(.protocolError, "nonsense"))
        let reason = "HTTP/2: nonsense"
        #expect(
            state.actions() == [
                .goAway(.protocolError), .close(isOrderly: false), .lost(1, nil, reason: reason, surelyUnsent: false),
                .lost(2, .accepted(uniqueID: nil), reason: reason, surelyUnsent: false),
                .lost(3, nil, reason: reason, surelyUnsent: false), .ended(reason: reason, wasOfUse: true),
            ])
    }

    @Test("a connection was of use if the peer ever allowed a push") func use() throws {
        func end(_ change: (inout State) throws -> Void) throws -> State.Action? {
            var state = State(number: 1, firstStreamID: 1, now: .start)
            try change(&state)
            state.end()
            return state.actions().last
        }
        func settings(_ limit: Int) -> PeerSettings { PeerSettings(streamLimit: limit, sentCount: 1) }
        let reason = "closed by the server"
        #expect(try end { _ in } == .ended(reason: reason, wasOfUse: false))
        #expect(
            try end { try $0.settings(settings(0), isTaking: true, now: .start) }
                == .ended(reason: reason, wasOfUse: false))
        #expect(
            try end { try $0.settings(settings(1), isTaking: true, now: .start) }
                == .ended(reason: reason, wasOfUse: true))
    }

    @Test("an unused connection is retired at once, one that isn't ready is closed, and a closed one does nothing")
    func retirement() throws {
        var ready = try State.ready()
        ready.retire(because: "enough", isOurs: true)
        #expect(ready.actions() == [.retired(isOurs: true), .goAway(.noError), .close(isOrderly: true)])
        ready.retire(because: "again")
        #expect(ready.actions() == [])
        ready.end()
        #expect(ready.actions() == [.ended(reason: "enough", wasOfUse: true)])

        var connecting = State(number: 1, firstStreamID: 1, now: .start)
        connecting.retire(because: "enough", isOurs: true)
        #expect(connecting.actions() == [.close(isOrderly: false), .ended(reason: "enough", wasOfUse: false)])
        connecting.close(because: "again")
        connecting.close(because: ProtocolViolation(.protocolError, "nonsense"))
        connecting.tick(now: .later(1_000_000), .standard, isWanted: true)
        connecting.end()
        #expect(connecting.actions() == [])
    }

    // MARK: Time

    @Test("a connection that isn't ready in time is closed") func connecting() {
        var state = State(number: 1, firstStreamID: 1, now: .start)
        state.tick(now: .later(9.9), .standard, isWanted: true)
        #expect(state.actions() == [])
        state.tick(now: .later(10), .standard, isWanted: true)
        let reason = "no connection within 10000 ms"
        #expect(state.actions() == [.close(isOrderly: false), .ended(reason: reason, wasOfUse: false)])
    }

    @Test("a push without a response by its deadline is abandoned; a status is enough of a response")
    func deadlines() throws {
        var state = try State.ready()
        state.hasSucceeded = true
        for push in 1...3 { state.push(push, deadline: push == 2 ? .later(6) : .later(5)) }
        try state.headers([":status": "400"], byteCount: 5, on: 5, isLast: false, now: .start)
        _ = state.actions()
        state.tick(now: .later(4.9), .standard, isWanted: false)
        #expect(state.actions() == [])
        state.tick(now: .later(5), .standard, isWanted: false)
        #expect(
            state.actions() == [
                .reset(1, .cancel), .timedOut(1, nil), .reset(5, .cancel),
                .timedOut(3, .refused(APNsRefusal(status: 400, reason: nil))),
            ])
    }

    @Test("silence leads to a ping, sooner if a response is outstanding, and no answer to it ends the connection")
    func silence() throws {
        for isBusy in [false, true] {
            let patience = isBusy ? 10.0 : 3_600
            var state = try State.ready(number: 9)
            if isBusy { state.push(1, deadline: .later(10_000)) }
            _ = state.actions()
            state.tick(now: .later(patience - 0.1), .standard, isWanted: false)
            #expect(state.actions() == [])
            state.tick(now: .later(patience), .standard, isWanted: false)
            #expect(state.actions() == [.ping(9, isAnswer: false)] && state.pingSentAt == .later(patience))
            try state.pingAnswer(8, now: .later(patience + 1))
            state.tick(now: .later(patience + 9.9), .standard, isWanted: false)
            #expect(state.actions() == [] && state.pingSentAt != nil, "another number, and one ping at a time")

            var answered = state
            try answered.pingAnswer(9, now: .later(patience + 5))
            answered.received(now: .later(patience + 5))
            answered.tick(now: .later(patience + 10), .standard, isWanted: false)
            #expect(answered.actions() == [])
            state.tick(now: .later(patience + 10), .standard, isWanted: false)
            #expect(state.actions().last == .ended(reason: "no answer to a ping", wasOfUse: true))
        }
    }

    @Test("a connection that is unused for a day is retired as fine, and use starts the day again") func idle() throws {
        var state = try State.ready()
        state.hasSucceeded = true
        state.push(1, deadline: .later(100_000))
        try state.pass(until: 10, isWanted: false)
        try state.accept(1, now: .later(10))
        try state.pass(until: 86_409, isWanted: false)
        #expect(state.phase == .ready)
        try state.pass(until: 86_410, isWanted: false)
        #expect(state.actions().suffix(3) == [.retired(isOurs: true), .goAway(.noError), .close(isOrderly: true)])
    }

    @Test("a connection that answers nothing is retired only if pushes wait and it is full or unproven")
    func firstAnswer() throws {
        let silent = State.Action.retired(isOurs: false)
        for (isWanted, hasSucceeded, limit, isRetired) in [
            (true, false, 10, true), (true, true, 1, true), (true, true, 10, false), (false, false, 10, false),
            (false, true, 1, false),
        ] {
            var state = try State.ready(streams: limit)
            state.hasSucceeded = hasSucceeded
            state.push(1, deadline: .later(100))
            state.tick(now: .later(4.9), .standard, isWanted: isWanted)
            #expect(!state.actions().contains(silent))
            state.tick(now: .later(5), .standard, isWanted: isWanted)
            #expect(state.actions().contains(silent) == isRetired, "\(isWanted) \(hasSucceeded) \(limit)")
        }
    }

    @Test("a server that allows no streams for ten seconds is left") func noStreams() throws {
        var state = try State.ready(streams: 1)
        try state.pass(until: 100, isWanted: false)
        try state.settings(PeerSettings(streamLimit: 0, sentCount: 1), isTaking: true, now: .later(100))
        try state.pass(until: 109, isWanted: false)
        #expect(state.phase == .ready)
        try state.pass(until: 110, isWanted: false)
        #expect(state.actions().contains(.retired(isOurs: false)))
    }

    @Test("a connection settles once, ten seconds after it was ready, if a push was accepted") func settling() throws {
        var state = try State.ready(now: .later(3))
        state.tick(now: .later(20), .standard, isWanted: false)
        #expect(state.actions() == [] && !state.hasLasted(at: .later(20)))
        state.hasSucceeded = true
        #expect(!state.hasLasted(at: .later(12.9)) && state.hasLasted(at: .later(13)))
        state.tick(now: .later(20), .standard, isWanted: false)
        state.tick(now: .later(21), .standard, isWanted: false)
        #expect(state.actions() == [.settled])
    }
}

extension NIODeadline {
    static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    static func later(_ seconds: Double) -> NIODeadline { start + .nanoseconds(Int64((seconds * 1e9).rounded())) }
}

extension DeadlineAmounts {
    static let standard = DeadlineAmounts(deadlines: APNsConfiguration.Deadlines())
}

extension ConnectionState<Int> {
    /// A connection whose peer's settings have arrived, and are acknowledged.
    static func ready(
        number: Int = 1, streams: Int = 10, window: Int? = nil, firstStreamID: Int32 = 1, now: NIODeadline = .start
    ) throws(ProtocolViolation) -> Self {
        var state = Self(number: number, firstStreamID: firstStreamID, now: now)
        let settings = PeerSettings(streamLimit: streams, initialWindow: window, sentCount: 2)
        try state.settings(settings, isTaking: true, now: now)
        _ = state.actions()
        return state
    }

    /// Returns and removes all actions.
    mutating func actions() -> [Action] {
        var actions: [Action] = []
        while let action = nextAction() { actions.append(action) }
        return actions
    }

    /// Opens a stream for a push of 100 bytes.
    mutating func push(_ push: Int, deadline: NIODeadline = .later(30)) {
        _ = open(push, bodyByteCount: 100, deadline: deadline)
    }

    mutating func accept(_ streamID: Int32, now: NIODeadline = .start) throws(ProtocolViolation) {
        try headers([":status": "200"], byteCount: 5, on: streamID, isLast: true, now: now)
    }

    mutating func data(
        _ text: String, byteCount: Int? = nil, on streamID: Int32, isLast: Bool = false, now: NIODeadline = .start
    ) throws(ProtocolViolation) {
        try data(
            ByteBuffer(string: text), flowControlledByteCount: byteCount ?? text.utf8.count, on: streamID,
            isLast: isLast, now: now)
    }

    /// Checks the time every second, up to this one. The peer answers each ping.
    mutating func pass(until seconds: Int, isWanted: Bool) throws(ProtocolViolation) {
        let passed = Int((max(lastReceivedAt, .start) - .start).nanoseconds / 1_000_000_000)
        for second in stride(from: passed, through: seconds, by: 1) {
            tick(now: .later(Double(second)), .standard, isWanted: isWanted)
            if pingSentAt != nil { try pingAnswer(1, now: .later(Double(second))) }
            received(now: .later(Double(second)))
        }
    }
}
