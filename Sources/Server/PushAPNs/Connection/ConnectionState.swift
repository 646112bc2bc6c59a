internal import NIOCore
internal import NIOHPACK

/// The state of an HTTP/2 connection: its streams, windows, settings, and end. It's a value that does no I/O and reads no
/// clock. Each method takes an event: a push to send, a frame from the peer, or the passage of time. It changes the state,
/// and queues actions, which ``APNsConnection`` performs in the order of ``nextAction()``. Source: RFC 9113, 5, 6, and 8.
///
/// `Push` identifies a push to the caller. The state passes it on without looking at it.
struct ConnectionState<Push> {
    enum Phase {
        /// Until the peer's SETTINGS arrive.
        case connecting
        case ready
        /// Accepts no new streams, and closes after the last response.
        case draining
        case closed
    }

    enum Action {
        // Frames to write.
        case acknowledgeSettings
        /// A part of a push's body.
        case data(Push, on: Int32, Range<Int>, isLast: Bool)
        case reset(Int32, ErrorCode)
        case widenConnection(by: Int)
        case ping(UInt64, isAnswer: Bool)
        /// Must be sent at once, since the connection is closed next.
        case goAway(ErrorCode)
        /// Not a frame: the next header block uses at most this much of the peer's table.
        case limitHeaderTable(to: Int)

        // Results of pushes, whose streams are gone.
        case answered(Push, APNsAnswer)
        /// The answer is there if enough of the response has arrived.
        case timedOut(Push, APNsAnswer?)
        /// The same. `surelyUnsent` says that the peer didn't process the push.
        case lost(Push, APNsAnswer?, reason: String, surelyUnsent: Bool)

        // The connection's life.
        case ready
        /// The connection has worked long enough to reset the back-off.
        case settled
        case slowDown(APNsReason?)
        /// The peer announced the connection's end.
        case wentAway(reason: String)
        /// It accepts no more pushes. `isOurs` says whether the connection is fine, so that the next one need not wait.
        case retired(isOurs: Bool)
        /// `isOrderly` says whether to wait for TLS closure.
        case close(isOrderly: Bool)
        /// The last action. `wasOfUse` says whether the peer ever allowed a push.
        case ended(reason: String, wasOfUse: Bool)
    }

    private struct Stream {
        let push: Push
        let deadline: NIODeadline
        let bodyByteCount: Int
        /// How much of the body the peer accepts on this stream now, possibly negative, and how much was sent.
        var window: Int
        var sentByteCount = 0
        var isBodySent = false
        var response = PartialResponse()
    }

    private let number: Int
    private(set) var phase = Phase.connecting
    private var actions = Actions()

    private var streams: [Int32: Stream] = [:]
    private(set) var peerStreamLimit = 0
    private var nextStreamID: Int32
    /// Whether APNs has accepted a push on this connection. Until then, it sends one push at a time.
    var hasSucceeded = false
    private var isClosing = false
    /// The reason that the connection ends, once known: the one in the peer's last GOAWAY, or else the first reason.
    private var endReason: String?

    /// How many bytes of bodies the peer accepts on the whole connection, and on a new stream.
    private var connectionWindow = HTTP2Size.initialWindow
    private var initialWindow = HTTP2Size.initialWindow
    /// The streams whose bodies wait for a window, in the order of their pushes.
    private var waiting = CircularBuffer<Int32>()
    /// How many bytes the peer can still send on the whole connection.
    private var receiveWindow = HTTP2Size.initialWindow
    private var floodGuard = FloodGuard()
    private var goAwayCount = 0
    private var awaitsSettingsAcknowledgement = false

    let openedAt: NIODeadline
    private(set) var lastReceivedAt: NIODeadline
    private var lastUsedAt: NIODeadline
    private(set) var pingSentAt: NIODeadline?
    /// The time at which the connection became ready.
    private var readyAt: NIODeadline
    /// The last time at which the peer allowed any streams.
    private var allowedAt: NIODeadline
    /// The last time at which the peer responded, or no responses were outstanding.
    private var answeredAt: NIODeadline
    private var isSettled = false

    init(number: Int, firstStreamID: Int32, now: NIODeadline) {
        self.number = number
        nextStreamID = firstStreamID
        openedAt = now
        lastReceivedAt = now
        lastUsedAt = now
        readyAt = now
        allowedAt = now
        answeredAt = now
    }

    /// Returns the next action, or nil if there is none until the next event.
    mutating func nextAction() -> Action? { actions.next() }

    var streamCount: Int { streams.count }

    var freeStreamCount: Int {
        guard phase == .ready else { return 0 }
        return max(0, (hasSucceeded ? peerStreamLimit : min(1, peerStreamLimit)) - streams.count)
    }

    /// Whether the connection has reached the peer's limit, so that only another one would help.
    var isFull: Bool { phase == .ready && hasSucceeded && streams.count >= peerStreamLimit }

    var isLive: Bool { phase == .connecting || phase == .ready }

    /// Whether the connection has worked long enough to reset the back-off.
    func hasLasted(at now: NIODeadline) -> Bool { hasSucceeded && now - readyAt >= ConnectionLimits.settlingTime }
}

/// Pushes to send.
extension ConnectionState {
    /// Opens a stream for a push, and returns its ID. Requires a free stream. The caller must write the headers before it
    /// performs the actions, which send the body.
    mutating func open(_ push: Push, bodyByteCount: Int, deadline: NIODeadline) -> Int32 {
        let streamID = nextStreamID
        var stream = Stream(push: push, deadline: deadline, bodyByteCount: bodyByteCount, window: initialWindow)
        floodGuard.pushed()
        Self.sendBody(of: &stream, streamID, &connectionWindow, &actions)
        if !stream.isBodySent { waiting.append(streamID) }
        streams[streamID] = stream
        // A connection has room for about a billion pushes.
        if streamID >= Int32.max - 2 { retire(because: "its stream IDs are used up", isOurs: true) }
        nextStreamID += 2
        return streamID
    }

    /// Removes a push, whose caller no longer waits.
    mutating func cancel(_ streamID: Int32) {
        _ = abandon(streamID)
        closeIfDrained()
    }

    /// Removes a push from its stream, and tells the peer.
    private mutating func abandon(_ streamID: Int32) -> Stream? {
        guard let stream = remove(streamID) else { return nil }
        floodGuard.gaveUp()
        actions.append(.reset(streamID, .cancel))
        return stream
    }

    private mutating func remove(_ streamID: Int32) -> Stream? {
        guard let stream = streams.removeValue(forKey: streamID) else { return nil }
        if !stream.isBodySent { waiting.removeAll { $0 == streamID } }
        return stream
    }

    /// Sends a body as far as the peer's windows allow. Most bodies fit at once, at the cost of two comparisons.
    private static func sendBody(
        of stream: inout Stream, _ streamID: Int32, _ connectionWindow: inout Int,
        _ actions: inout Actions
    ) {
        while !stream.isBodySent {
            let start = stream.sentByteCount
            let restCount = stream.bodyByteCount - start
            let byteCount = max(0, min(restCount, connectionWindow, stream.window, HTTP2Size.maximumPayload))
            guard byteCount > 0 || restCount == 0 else { return }
            connectionWindow -= byteCount
            stream.window -= byteCount
            stream.sentByteCount += byteCount
            stream.isBodySent = byteCount == restCount
            actions.append(.data(stream.push, on: streamID, start..<start + byteCount, isLast: stream.isBodySent))
        }
    }

    /// Sends waiting bodies in order. Bodies with too small a stream window keep their place. Source: RFC 9113, 5.2.
    private mutating func sendWaiting() {
        guard !waiting.isEmpty else { return }
        var stuck: [Int32] = []
        while connectionWindow > 0, let streamID = waiting.popFirst() {
            guard let index = streams.index(forKey: streamID) else { continue }
            Self.sendBody(of: &streams.values[index], streamID, &connectionWindow, &actions)
            if !streams.values[index].isBodySent { stuck.append(streamID) }
        }
        for streamID in stuck.reversed() { waiting.prepend(streamID) }
    }
}

/// The connection's life.
extension ConnectionState {
    /// The handshake is over, and our SETTINGS were sent.
    mutating func sentSettings() { awaitsSettingsAcknowledgement = true }

    /// Stops accepting pushes, and closes after the last outstanding response. `isOurs` says whether the connection is
    /// fine, so that the next one need not wait.
    mutating func retire(because reason: String, isOurs: Bool = false) {
        if phase == .connecting { return close(because: reason) }
        guard phase == .ready else { return }
        phase = .draining
        if endReason == nil { endReason = reason }
        actions.append(.retired(isOurs: isOurs))
        closeIfDrained()
    }

    private mutating func closeIfDrained() {
        guard phase == .draining, streams.isEmpty, !isClosing else { return }
        isClosing = true
        actions.append(.goAway(.noError))
        actions.append(.close(isOrderly: true))
    }

    /// Closes at once, failing the pushes in flight. Doesn't wait for TLS closure, because silence may be the reason to
    /// close, and data that the peer sent meanwhile would be read and decrypted.
    mutating func close(because reason: String) {
        guard phase != .closed else { return }
        if endReason == nil { endReason = reason }
        actions.append(.close(isOrderly: false))
        end()
    }

    /// Tells the peer the reason, in case it still reads, and fails every push on the connection.
    mutating func close(because violation: ProtocolViolation) {
        guard phase != .closed else { return }
        actions.append(.goAway(violation.code))
        close(because: "HTTP/2: " + violation.what)
    }

    /// The channel is closed.
    mutating func end() {
        guard phase != .closed else { return }
        let wasOfUse = phase != .connecting && (hasSucceeded || peerStreamLimit > 0)
        phase = .closed
        let reason = endReason ?? "closed by the server"
        for (_, stream) in streams.sorted(by: { $0.key < $1.key }) {
            lose(stream, because: reason, surelyUnsent: false)
        }
        streams = [:]
        waiting.removeAll()
        actions.append(.ended(reason: reason, wasOfUse: wasOfUse))
    }

    private mutating func lose(_ stream: Stream, because reason: String, surelyUnsent: Bool) {
        actions.append(.lost(stream.push, stream.response.answer, reason: reason, surelyUnsent: surelyUnsent))
    }
}

/// Frames on streams.
extension ConnectionState {
    /// Notes that everything the network had was read.
    mutating func received(now: NIODeadline) { lastReceivedAt = now }

    /// - Parameter byteCount: The size of the header block.
    mutating func headers(
        _ headers: HPACKHeaders, byteCount: Int, on streamID: Int32, isLast: Bool, now: NIODeadline
    ) throws(ProtocolViolation) {
        guard let index = try stream(streamID) else {
            return try floodGuard.took(byteCount, fieldCount: headers.count, now: now)
        }
        let wasBegun = streams.values[index].response.isBegun
        try streams.values[index].response.take(headers, isLast: isLast)
        if isLast {
            complete(streamID, now: now)
        } else if wasBegun == streams.values[index].response.isBegun {
            // There may be any number of 1xx responses.
            try floodGuard.took(byteCount, fieldCount: headers.count, now: now)
        }
    }

    /// - Parameter byteCount: Includes the padding.
    mutating func data(
        _ bytes: ByteBuffer, flowControlledByteCount byteCount: Int, on streamID: Int32, isLast: Bool, now: NIODeadline
    ) throws(ProtocolViolation) {
        try took(byteCount)
        if byteCount == 0, !isLast { try floodGuard.took(now: now) }
        guard let index = try stream(streamID) else {
            // These bytes are returned to the peer's window, which would never limit them.
            return try floodGuard.took(byteCount, now: now)
        }
        let isWanted = try streams.values[index].response.take(
            bytes, flowControlledByteCount: byteCount, isLast: isLast)
        if isLast {
            complete(streamID, now: now)
        } else if !isWanted, let stream = abandon(streamID) {
            finish(stream, now: now)
        }
    }

    mutating func reset(_ streamID: Int32, _ code: ErrorCode, now: NIODeadline) throws(ProtocolViolation) {
        guard let stream = remove(streamID) else {
            try requireOurs(streamID)
            return try floodGuard.took(now: now)
        }
        if stream.response.isRefusal || code == .noError && stream.response.answer != nil {
            finish(stream, now: now)
        } else {
            // RFC 9113, 8.7: REFUSED_STREAM means that nothing was processed.
            lose(stream, because: "the stream was reset: \(code.name)", surelyUnsent: code == .refusedStream)
            closeIfDrained()
        }
    }

    /// Returns the place of a stream, or nil if its push was completed or abandoned. Its response may still be in transit,
    /// so that is a useless frame rather than a violation. A stream that this connection never opened is a violation.
    private func stream(_ streamID: Int32) throws(ProtocolViolation) -> Dictionary<Int32, Stream>.Index? {
        let index = streams.index(forKey: streamID)
        if index == nil { try requireOurs(streamID) }
        return index
    }

    private func requireOurs(_ streamID: Int32) throws(ProtocolViolation) {
        try demand(
            !streamID.isMultiple(of: 2) && streamID < nextStreamID, .protocolError,
            "a frame on a stream that was never opened")
    }

    /// Replenishes the connection's receive window when half of it is used. Stream windows are larger than any body.
    private mutating func took(_ byteCount: Int) throws(ProtocolViolation) {
        receiveWindow -= byteCount
        guard receiveWindow >= 0 else { throw ProtocolViolation(.flowControlError, "more data than allowed") }
        guard receiveWindow < HTTP2Size.initialWindow / 2 else { return }
        actions.append(.widenConnection(by: HTTP2Size.initialWindow - receiveWindow))
        receiveWindow = HTTP2Size.initialWindow
    }

    private mutating func complete(_ streamID: Int32, now: NIODeadline) {
        guard let stream = remove(streamID) else { return }
        // The response came before the whole body was sent, so the stream is still half open.
        if !stream.isBodySent { actions.append(.reset(streamID, .cancel)) }
        finish(stream, now: now)
    }

    /// Delivers as much of the response as was received.
    private mutating func finish(_ stream: Stream, now: NIODeadline) {
        if let answer = stream.response.answer {
            answeredAt = now
            if case .accepted = answer { hasSucceeded = true }
            actions.append(.answered(stream.push, answer))
        } else {
            lose(stream, because: "the response had no status", surelyUnsent: false)
        }
        closeIfDrained()
    }
}

/// Frames on the connection.
extension ConnectionState {
    /// - Parameter isTaking: Whether the peer reads the written data, or did until recently.
    mutating func settings(
        _ settings: PeerSettings, isTaking: Bool, now: NIODeadline
    ) throws(ProtocolViolation) {
        try floodGuard.took(fieldCount: settings.sentCount, isQuestion: true, now: now)
        try floodGuard.answered(isTaken: isTaking)
        // This comes before any data that the new settings allow.
        actions.append(.acknowledgeSettings)
        // RFC 9113, 6.5.2: without a setting, there's no limit.
        if phase == .connecting { peerStreamLimit = ConnectionLimits.streamsWhereNoneAreNamed }
        for byteCount in settings.headerTableByteCounts { actions.append(.limitHeaderTable(to: byteCount)) }
        if let limit = settings.streamLimit { peerStreamLimit = min(limit, ConnectionLimits.maximumStreamCount) }
        if let window = settings.initialWindow { try setInitialWindow(window) }
        guard phase == .connecting else { return }
        phase = .ready
        (readyAt, allowedAt, answeredAt) = (now, now, now)
        actions.append(.ready)
    }

    mutating func settingsAcknowledged() throws(ProtocolViolation) {
        try demand(awaitsSettingsAcknowledgement, .protocolError, "an unexpected SETTINGS acknowledgment")
        awaitsSettingsAcknowledgement = false
    }

    /// - Parameter isTaking: As for settings.
    mutating func ping(_ data: UInt64, isTaking: Bool, now: NIODeadline) throws(ProtocolViolation) {
        try floodGuard.took(isQuestion: true, now: now)
        try floodGuard.answered(isTaken: isTaking)
        actions.append(.ping(data, isAnswer: true))
    }

    mutating func pingAnswer(_ data: UInt64, now: NIODeadline) throws(ProtocolViolation) {
        try floodGuard.took(now: now)
        if data == UInt64(number) { pingSentAt = nil }
    }

    /// A frame that has no effect.
    mutating func useless(byteCount: Int, now: NIODeadline) throws(ProtocolViolation) {
        try floodGuard.took(byteCount, now: now)
    }

    /// Widens the window of one stream, or of the whole connection if the ID is 0.
    mutating func widen(_ streamID: Int32, by increment: Int, now: NIODeadline) throws(ProtocolViolation) {
        try floodGuard.took(now: now)
        if streamID == 0 {
            connectionWindow = try Self.sum(connectionWindow, increment)
        } else if let index = try stream(streamID) {
            streams.values[index].window = try Self.sum(streams.values[index].window, increment)
        }
        sendWaiting()
    }

    /// Sets the initial window of streams, and adjusts those of open streams by the difference, possibly below zero.
    private mutating func setInitialWindow(_ window: Int) throws(ProtocolViolation) {
        let change = window - initialWindow
        guard change != 0 else { return }
        initialWindow = window
        var index = streams.startIndex
        while index != streams.endIndex {
            streams.values[index].window = try Self.sum(streams.values[index].window, change)
            streams.formIndex(after: &index)
        }
        sendWaiting()
    }

    private static func sum(_ window: Int, _ change: Int) throws(ProtocolViolation) -> Int {
        try demand(window + change <= HTTP2Size.maximumWindow, .flowControlError, "a window that is too large")
        return window + change
    }

    mutating func goAway(
        lastStreamID: Int32, _ code: ErrorCode, _ data: ByteBuffer, now: NIODeadline
    ) throws(ProtocolViolation) {
        try floodGuard.took(data.readableBytes, now: now)
        goAwayCount += 1
        try demand(goAwayCount <= ConnectionLimits.goAwayCount, .enhanceYourCalm, "too many GOAWAY frames")
        let named = ErrorBody(Array(data.readableBytesView)).reason
        let reason = named?.rawValue ?? code.name
        let words = "APNs ended the connection: \(reason)"
        endReason = words
        actions.append(.wentAway(reason: reason))
        if code == .enhanceYourCalm || named?.asksToSlowDown == true { actions.append(.slowDown(named)) }
        retire(because: reason)
        // RFC 9113, 6.8: streams above the last were not and will not be processed. The newest comes first, so that
        // each one can be put before the others that wait.
        for streamID in streams.keys.filter({ $0 > lastStreamID }).sorted(by: >) {
            if let stream = remove(streamID) { lose(stream, because: words, surelyUnsent: true) }
        }
        closeIfDrained()
    }
}

/// Time.
extension ConnectionState {
    /// Checks the time, ten times a second.
    ///
    /// - Parameter isWanted: Whether pushes wait for a free stream.
    mutating func tick(now: NIODeadline, _ deadlines: DeadlineAmounts, isWanted: Bool) {
        switch phase {
        case .connecting:
            if now - openedAt >= deadlines.connect {
                close(because: "no connection within \(Self.milliseconds(deadlines.connect)) ms")
            }
        case .ready, .draining:
            expireStreams(now: now)
            checkSilence(now: now, deadlines)
            checkUse(now: now, deadlines, isWanted: isWanted)
            closeIfDrained()
        case .closed: break
        }
    }

    private mutating func expireStreams(now: NIODeadline) {
        let expired = streams.filter { $0.value.deadline <= now }
        for streamID in expired.keys.sorted() {
            if let stream = abandon(streamID) { actions.append(.timedOut(stream.push, stream.response.answer)) }
        }
    }

    private mutating func checkSilence(now: NIODeadline, _ deadlines: DeadlineAmounts) {
        if let pingSentAt {
            if now - pingSentAt >= deadlines.ping { close(because: "no answer to a ping") }
            return
        }
        let patience = streams.isEmpty ? deadlines.pingWhileIdle : deadlines.pingWhileBusy
        guard now - lastReceivedAt >= patience else { return }
        pingSentAt = now
        actions.append(.ping(UInt64(number), isAnswer: false))
    }

    /// Retires a connection that isn't needed, or that doesn't help the waiting pushes.
    private mutating func checkUse(now: NIODeadline, _ deadlines: DeadlineAmounts, isWanted: Bool) {
        if phase == .ready, streams.isEmpty, now - lastUsedAt >= deadlines.idle {
            retire(because: "idle", isOurs: true)
        }
        if !streams.isEmpty { lastUsedAt = now }
        guard phase == .ready else { return }
        if peerStreamLimit > 0 { allowedAt = now }
        if streams.isEmpty { answeredAt = now }
        if !isSettled, hasLasted(at: now) {
            isSettled = true
            actions.append(.settled)
        }
        if now - allowedAt >= deadlines.connect {
            retire(because: "the server allows no streams")
        } else if isWanted, !hasSucceeded || isFull, now - answeredAt >= deadlines.firstAnswer {
            retire(because: "no answer within \(Self.milliseconds(deadlines.firstAnswer)) ms")
        }
    }

    private static func milliseconds(_ amount: TimeAmount) -> Int64 { amount.nanoseconds / 1_000_000 }
}

extension ConnectionState.Action: Equatable where Push: Equatable {}

extension ConnectionState {
    /// A queue. Most events lead to one action, which is then moved in and out without an array.
    private struct Actions {
        private var first: Action?
        private var others: [Action] = []
        /// The place of the next action in `others`.
        private var place = 0

        mutating func append(_ action: Action) { if first == nil { first = action } else { others.append(action) } }

        mutating func next() -> Action? {
            guard let action = first.take() else { return nil }
            if place < others.count {
                first = others[place]
                place += 1
            } else if place > 0 {
                others.removeAll(keepingCapacity: true)
                place = 0
            }
            return action
        }
    }
}

private enum ConnectionLimits {
    /// Two are usual: a warning, and the actual end. Each is logged.
    static let goAwayCount = 10
    static let streamsWhereNoneAreNamed = 1_000
    /// Apple's limit is about 1,000. We never use more than this, whatever the peer allows.
    static let maximumStreamCount = 10_000
    static let settlingTime: TimeAmount = .seconds(10)
}
