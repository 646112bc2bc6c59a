internal import NIOCore
internal import NIOExtras
internal import NIOHPACK
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import NIOTLS
internal import PushSender

/// An HTTP/2 connection: the handler right after TLS, which reads and writes frames, and tracks the open streams itself.
/// There is no channel per stream; see Docs/Decisions/0020-http2-frames-of-our-own.md. Its `Sendable` conformance is
/// unchecked, because it's confined to its lane's event loop.
final class APNSConnection: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Phase {
        /// Until the peer's SETTINGS arrive.
        case connecting
        case ready
        /// Accepts no new streams, and closes after the last response.
        case draining
        case closed
    }

    let number: Int
    let lane: Lane
    private(set) var phase = Phase.connecting
    /// Whether APNs has accepted a push on this connection. Until then, it sends one push at a time.
    var hasSucceeded = false

    private(set) var streams: [Int32: Delivery] = [:]
    var peerStreamLimit = 0
    private(set) var nextStreamID: Int32
    private var isClosing = false

    var reader = FrameReader()
    var writer = FrameWriter()
    private var headerEncoder: HeaderEncoder
    var headerDecoder = HPACKDecoder(
        allocator: ByteBufferAllocator(), maxDynamicTableSize: HTTP2Size.headerTable,
        maxHeaderListSize: APNSConnection.maximumHeaderByteCount)
    var bodies = BodyWindows()
    /// How many bytes the peer can still send on the whole connection.
    var receiveWindow = HTTP2Size.initialWindow
    var floodGuard = FloodGuard()
    var goAwayCount = 0
    var awaitsSettingsAcknowledgement = false

    let openedAt: NIODeadline
    var lastReceivedAt: NIODeadline
    var lastUsedAt: NIODeadline
    var pingSentAt: NIODeadline?
    // State that the lane maintains.
    /// The time at which the connection became ready.
    var readyAt: NIODeadline
    /// The last time at which the peer allowed any streams.
    var allowedAt: NIODeadline
    /// The last time at which the peer responded, or no responses were outstanding.
    var answeredAt: NIODeadline
    /// Whether the connection has worked long enough to reset the back-off.
    var isSettled = false
    /// Whether the lane has been told that the connection ended.
    var isRetired = false
    var isEndedByUs = false
    /// Whether the peer's request to slow down has been handled.
    var isSlowedDown = false
    /// The reason that the connection ends, once known: the one in the peer's last GOAWAY, or else the first reason.
    var endReason: String?
    var context: ChannelHandlerContext?

    init(number: Int, lane: Lane, now: NIODeadline) {
        self.number = number
        self.lane = lane
        headerEncoder = HeaderEncoder(endpoint: lane.endpoint)
        nextStreamID = lane.dispatcher.limits.firstStreamID
        openedAt = now
        lastReceivedAt = now
        lastUsedAt = now
        readyAt = now
        allowedAt = now
        answeredAt = now
    }

    var freeStreamCount: Int {
        guard phase == .ready else { return 0 }
        return max(0, (hasSucceeded ? peerStreamLimit : min(1, peerStreamLimit)) - streams.count)
    }

    /// Whether the connection has reached the peer's limit, so that only another one would help.
    var isFull: Bool { phase == .ready && hasSucceeded && streams.count >= peerStreamLimit }

    var isLive: Bool { phase == .connecting || phase == .ready }

    /// Whether the peer reads the written data, or did until recently.
    var isTaking: Bool { context?.channel.isWritable ?? true }

    // MARK: Sending

    /// Writes a push, which ``flush()`` sends. Requires a free stream.
    func send(_ delivery: Delivery, token: ProviderToken) {
        let streamID = nextStreamID
        delivery.sent(on: self, streamID, token)
        streams[streamID] = delivery
        // A connection has room for about a billion pushes.
        if nextStreamID >= Int32.max - 2 { retire(because: "its stream IDs are used up", isOurs: true) }
        nextStreamID += 2

        floodGuard.pushed()
        writer.headers(on: streamID) { headerEncoder.write(delivery.request, token, to: &$0) }
        bodies.send(delivery, to: &writer)
    }

    func flush() {
        guard !writer.isEmpty, let context else { return }
        context.writeAndFlush(wrapOutboundOut(writer.bytes), promise: nil)
        writer.clear()
    }

    /// Removes a push from its stream, and tells the peer. The caller already has its result, or gets it now.
    func abandon(_ streamID: Int32) -> Delivery? {
        guard let delivery = removeStream(streamID) else { return nil }
        delivery.connection = nil
        floodGuard.gaveUp()
        writer.reset(streamID, .cancel)
        return delivery
    }

    func removeStream(_ streamID: Int32) -> Delivery? {
        guard let delivery = streams.removeValue(forKey: streamID) else { return nil }
        bodies.forget(delivery)
        return delivery
    }

    func cancel(_ delivery: Delivery) {
        _ = abandon(delivery.streamID)
        closeIfDrained()
        flush()
    }

    // MARK: Phases

    func becomeReady() {
        guard phase == .connecting else { return }
        phase = .ready
        lane.connectionIsReady(self)
    }

    /// Stops accepting pushes, and closes once there are no outstanding responses. `isOurs` says whether the connection is
    /// fine, so that the next one need not wait.
    func retire(because reason: String, isOurs: Bool = false) {
        if phase == .connecting { return close(because: reason) }
        guard phase == .ready else { return }
        phase = .draining
        if endReason == nil { endReason = reason }
        lane.connectionRetired(self, isOurs: isOurs)
        closeIfDrained()
    }

    func closeIfDrained() {
        guard phase == .draining, streams.isEmpty, !isClosing, let context else { return }
        isClosing = true
        writer.goAway(.noError)
        flush()
        context.close(promise: nil)
    }

    /// Closes at once, failing the pushes in flight. Doesn't wait for TLS closure, because silence may be the reason to
    /// close, and data that the peer sent meanwhile would be read and decrypted.
    func close(because reason: String) {
        guard phase != .closed else { return }
        if endReason == nil { endReason = reason }
        if let context {
            // Starts at the TLS handler, which therefore doesn't see the call.
            let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self)
            (tls ?? context).close(mode: .all, promise: nil)
        }
        end()
    }

    func end() {
        guard phase != .closed else { return }
        let wasConnecting = phase == .connecting
        phase = .closed
        let lost = streams.values.sorted { $0.streamID < $1.streamID }
        streams = [:]
        lane.connectionEnded(
            self, wasConnecting: wasConnecting, reason: endReason ?? "closed by the server", lost: lost)
        context = nil
    }

    /// A response's headers take about 200 bytes.
    static let maximumHeaderByteCount = 8_192
}

/// Connecting, up to the peer's settings, and channel events.
extension APNSConnection {
    /// Looks up the name again, connects, and performs the TLS handshake.
    func open() {
        let peer = lane.proxy ?? lane.endpoint
        guard let bootstrap = ClientBootstrap(validatingGroup: lane.eventLoop) else {
            return lane.eventLoop.execute { self.close(because: "this event loop can't open connections") }
        }
        // The lane checks the deadline for the whole process. This one only frees the socket.
        bootstrap.connectTimeout(lane.deadlines.connect)
            .connect(host: peer.host, port: peer.port)
            .flatMap { [self] in lane.proxy != nil ? tunnel(through: $0) : lane.eventLoop.makeSucceededFuture($0) }
            .whenComplete { [self] result in
                switch result {
                case .success(let channel): connected(channel)
                case .failure(let error): close(because: ConnectionFault.text(error, at: peer))
                }
            }
    }

    /// Asks the proxy for a connection to the endpoint, whose bytes the channel then carries. Source: RFC 9110, 9.3.6.
    private func tunnel(through channel: any Channel) -> EventLoopFuture<any Channel> {
        let isOpen = lane.eventLoop.makePromise(of: Void.self)
        let (encoder, decoder) = (HTTPRequestEncoder(), ByteToMessageHandler(HTTPResponseDecoder()))
        let endpoint = lane.endpoint
        let handler = NIOHTTP1ProxyConnectHandler(
            targetHost: endpoint.host, targetPort: endpoint.port, headers: ["Host": endpoint.description],
            deadline: .now() + lane.deadlines.connect, promise: isOpen)
        let pipeline = channel.pipeline.syncOperations
        do { try pipeline.addHandlers([encoder, decoder, handler]) } catch { isOpen.fail(error) }
        return isOpen.futureResult.assumeIsolated().flatMap { pipeline.removeHandler(decoder) }
            .flatMap { pipeline.removeHandler(encoder) }.map { channel }.nonisolated()
    }

    private func connected(_ channel: any Channel) {
        guard phase == .connecting else {
            channel.close(promise: nil)
            return
        }
        do {
            let tls = try lane.tls.makeHandler()
            try channel.pipeline.syncOperations.addHandlers([tls, self])
        } catch {
            channel.close(promise: nil)
            close(because: ConnectionFault.text(error, at: lane.endpoint))
        }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if !context.channel.isActive { close(because: "closed by the server") }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard phase != .closed, let event = event as? TLSUserEvent, case .handshakeCompleted(let negotiated) = event
        else { return }
        guard negotiated == "h2" else { return close(because: "the server does not offer HTTP/2 (ALPN h2)") }
        writer.preface(maximumHeaderByteCount: UInt32(Self.maximumHeaderByteCount))
        awaitsSettingsAcknowledgement = true
        flush()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase != .closed else { return }
        reader.append(unwrapInboundIn(data))
        do throws(ProtocolViolation) {
            while phase != .closed, let frame = try reader.next() { try take(frame) }
        } catch {
            violated(error)
        }
    }

    /// Tells the peer the reason, in case it still reads, and fails every push on the connection.
    private func violated(_ violation: ProtocolViolation) {
        writer.goAway(violation.code)
        flush()
        close(because: "HTTP/2: " + violation.what)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard phase != .closed else { return }
        lastReceivedAt = lane.clock.now()
        lane.dispatch(now: lastReceivedAt)
        flush()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        close(because: ConnectionFault.text(error, at: lane.endpoint))
    }

    func channelInactive(context: ChannelHandlerContext) { end() }

    func handlerRemoved(context: ChannelHandlerContext) { end() }
}

/// Frames from the peer.
extension APNSConnection {
    func take(_ frame: IncomingFrame) throws(ProtocolViolation) {
        switch frame {
        case .headers(let streamID, let block, let isLast): try headers(streamID, block, isLast: isLast)
        case .data(let streamID, let bytes, let byteCount, let isLast):
            try data(streamID, bytes, byteCount: byteCount, isLast: isLast)
        case .reset(let streamID, let code): try reset(streamID, code)
        case .settings(let settings): try follow(settings)
        case .settingsAcknowledged:
            try demand(awaitsSettingsAcknowledgement, .protocolError, "an unexpected SETTINGS acknowledgment")
            awaitsSettingsAcknowledgement = false
        case .ping(let number):
            try floodGuard.took(isQuestion: true, now: lane.clock.now())
            try floodGuard.answered(isTaken: isTaking)
            writer.ping(number, isAnswer: true)
        case .pingAnswer(let number):
            try floodGuard.took(now: lane.clock.now())
            if number == UInt64(self.number) { pingSentAt = nil }
        case .goAway(let lastStreamID, let code, let data):
            try floodGuard.took(data.readableBytes, now: lane.clock.now())
            try goAway(lastStreamID, code, data)
        case .windowUpdate(let streamID, let increment): try widen(streamID, by: increment)
        case .other(let byteCount): try floodGuard.took(byteCount, now: lane.clock.now())
        }
    }

    /// Returns the push on a stream, or nil if it was completed or abandoned. Its response may still be in transit, so that
    /// is a useless frame rather than a violation. A stream that this connection never opened is a violation.
    private func push(on streamID: Int32) throws(ProtocolViolation) -> Delivery? {
        let delivery = streams[streamID]
        if delivery == nil { try requireOurs(streamID) }
        return delivery
    }

    private func requireOurs(_ streamID: Int32) throws(ProtocolViolation) {
        try demand(
            !streamID.isMultiple(of: 2) && streamID < nextStreamID, .protocolError,
            "a frame on a stream that was never opened")
    }

    // MARK: Answers

    private func headers(_ streamID: Int32, _ block: ByteBuffer, isLast: Bool) throws(ProtocolViolation) {
        var block = block
        let byteCount = block.readableBytes
        // Decodes headers of abandoned streams, too, to keep the table in sync.
        guard let headers = try? headerDecoder.decodeHeaders(from: &block) else {
            throw ProtocolViolation(.compressionError, "headers that are malformed or too long")
        }
        guard let delivery = try push(on: streamID) else {
            return try floodGuard.took(byteCount, fieldCount: headers.count, now: lane.clock.now())
        }
        let wasBegun = delivery.response.isBegun
        try delivery.response.take(headers, isLast: isLast)
        if isLast {
            complete(delivery)
        } else if wasBegun == delivery.response.isBegun {
            // There may be any number of 1xx responses.
            try floodGuard.took(byteCount, fieldCount: headers.count, now: lane.clock.now())
        }
    }

    private func data(_ streamID: Int32, _ bytes: ByteBuffer, byteCount: Int, isLast: Bool) throws(ProtocolViolation) {
        try took(byteCount)
        if byteCount == 0, !isLast { try floodGuard.took(now: lane.clock.now()) }
        guard let delivery = try push(on: streamID) else {
            // These bytes are returned to the peer's window, which would never limit them.
            return try floodGuard.took(byteCount, now: lane.clock.now())
        }
        let isWanted = try delivery.response.take(bytes, flowControlledByteCount: byteCount, isLast: isLast)
        if isLast { complete(delivery) } else if !isWanted { finish(abandon(streamID)) }
    }

    /// Replenishes the connection's receive window when half of it is used. Stream windows are larger than any body.
    private func took(_ byteCount: Int) throws(ProtocolViolation) {
        receiveWindow -= byteCount
        guard receiveWindow >= 0 else { throw ProtocolViolation(.flowControlError, "more data than allowed") }
        guard receiveWindow < HTTP2Size.initialWindow / 2 else { return }
        writer.windowUpdate(HTTP2Size.initialWindow - receiveWindow)
        receiveWindow = HTTP2Size.initialWindow
    }

    private func complete(_ delivery: Delivery) {
        // The response came before the whole body was sent, so the stream is still half open.
        if !delivery.isBodySent { writer.reset(delivery.streamID, .cancel) }
        finish(removeStream(delivery.streamID))
        closeIfDrained()
    }

    /// Delivers as much of the response as was received.
    private func finish(_ delivery: Delivery?) {
        guard let delivery else { return }
        delivery.connection = nil
        if let answer = delivery.response.answer {
            lane.answered(delivery, answer, on: self)
        } else {
            lane.lost(delivery, "the response had no status", surelyUnsent: false)
        }
    }

    private func reset(_ streamID: Int32, _ code: ErrorCode) throws(ProtocolViolation) {
        guard let delivery = removeStream(streamID) else {
            try requireOurs(streamID)
            return try floodGuard.took(now: lane.clock.now())
        }
        if delivery.response.isRefusal || code == .noError && delivery.response.answer != nil {
            finish(delivery)
        } else {
            // RFC 9113, 8.7: REFUSED_STREAM means that nothing was processed.
            lane.lost(delivery, "the stream was reset: \(code.name)", surelyUnsent: code == .refusedStream)
        }
        closeIfDrained()
    }

    // MARK: The connection

    private func follow(_ settings: PeerSettings) throws(ProtocolViolation) {
        try floodGuard.took(fieldCount: settings.sentCount, isQuestion: true, now: lane.clock.now())
        try floodGuard.answered(isTaken: isTaking)
        // This comes before any data that the new settings allow.
        writer.acknowledgeSettings()
        // RFC 9113, 6.5.2: without a setting, there's no limit.
        if phase == .connecting { peerStreamLimit = Self.streamLimitWhereNoneIsNamed }
        for byteCount in settings.headerTableByteCounts { headerEncoder.limitTable(to: byteCount) }
        if let limit = settings.streamLimit { peerStreamLimit = min(limit, Self.maximumStreamLimit) }
        if let window = settings.initialWindow { try bodies.beginWith(window, open: streams.values, &writer) }
        becomeReady()
    }

    private func widen(_ streamID: Int32, by increment: Int) throws(ProtocolViolation) {
        try floodGuard.took(now: lane.clock.now())
        if streamID == 0 {
            try bodies.widen(nil, by: increment, &writer)
        } else if let delivery = streams[streamID] {
            try bodies.widen(delivery, by: increment, &writer)
        } else {
            try requireOurs(streamID)
        }
    }

    private func goAway(_ lastStreamID: Int32, _ code: ErrorCode, _ data: ByteBuffer) throws(ProtocolViolation) {
        goAwayCount += 1
        try demand(goAwayCount <= Self.maximumGoAwayCount, .enhanceYourCalm, "too many GOAWAY frames")
        let namedReason = ErrorBody(Array(data.readableBytesView)).reason
        let reason = namedReason?.rawValue ?? code.name
        endReason = "APNs ended the connection: \(reason)"
        lane.observer.wentAway(connection: number, reason: reason)
        if code == .enhanceYourCalm || namedReason?.asksToSlowDown == true {
            lane.slowDown(self, because: namedReason)
        }
        retire(because: reason)
        // RFC 9113, 6.8: streams above the last were not and will not be processed.
        let unsent = streams.keys.filter { $0 > lastStreamID }.sorted()
        for streamID in unsent.reversed() {
            guard let delivery = removeStream(streamID) else { continue }
            lane.lost(delivery, endReason ?? reason, surelyUnsent: true)
        }
        closeIfDrained()
    }

    /// Two are usual: a warning, and the actual end. Each is logged.
    private static let maximumGoAwayCount = 10
    private static let streamLimitWhereNoneIsNamed = 1_000
    /// Apple's limit is about 1,000. We never use more than this, whatever the peer allows.
    private static let maximumStreamLimit = 10_000
}

/// Time-based checks, ten times a second.
extension APNSConnection {
    func tick(now: NIODeadline) {
        let deadlines = lane.deadlines
        switch phase {
        case .connecting:
            if now - openedAt >= deadlines.connect {
                close(because: "no connection within \(deadlines.connect.nanoseconds / 1_000_000) ms")
            }
        case .ready, .draining:
            expireStreams(now: now)
            checkSilence(now: now)
            if phase == .ready, streams.isEmpty, now - lastUsedAt >= deadlines.idle {
                retire(because: "idle", isOurs: true)
            }
            if !streams.isEmpty { lastUsedAt = now }
            closeIfDrained()
            flush()
        case .closed: break
        }
    }

    private func expireStreams(now: NIODeadline) {
        let expired = streams.filter { $0.value.deadline <= now }
        for streamID in expired.keys.sorted() { if let delivery = abandon(streamID) { lane.end(delivery, .timedOut) } }
    }

    private func checkSilence(now: NIODeadline) {
        if let pingSentAt {
            if now - pingSentAt >= lane.deadlines.ping { close(because: "no answer to a ping") }
            return
        }
        let patience = streams.isEmpty ? lane.deadlines.pingWhileIdle : lane.deadlines.pingWhileBusy
        guard now - lastReceivedAt >= patience else { return }
        pingSentAt = now
        writer.ping(UInt64(number))
    }
}

/// Sends bodies as far as the peer's windows allow, and the rest when they open. Most bodies fit at once, at the cost of two
/// comparisons. The others wait in the order of their pushes. Source: RFC 9113, 5.2.
struct BodyWindows {
    private var connectionWindow = HTTP2Size.initialWindow
    private var initialWindow = HTTP2Size.initialWindow
    private var waiting = CircularBuffer<Delivery>()

    mutating func send(_ delivery: Delivery, to writer: inout FrameWriter) {
        delivery.window = initialWindow
        if !sendWhatFits(delivery, to: &writer) { waiting.append(delivery) }
    }

    private mutating func sendWhatFits(_ delivery: Delivery, to writer: inout FrameWriter) -> Bool {
        let body = delivery.request.body
        while !delivery.isBodySent {
            let start = delivery.sentByteCount
            let restCount = body.count - start
            // A stream's window can be negative.
            let byteCount = max(0, min(restCount, connectionWindow, delivery.window, HTTP2Size.maximumPayload))
            guard byteCount > 0 || restCount == 0 else { return false }
            connectionWindow -= byteCount
            delivery.window -= byteCount
            delivery.sentByteCount += byteCount
            delivery.isBodySent = byteCount == restCount
            writer.data(body[start..<start + byteCount], on: delivery.streamID, isLast: delivery.isBodySent)
        }
        return true
    }

    mutating func forget(_ delivery: Delivery) { if !delivery.isBodySent { waiting.removeAll { $0 === delivery } } }

    /// Sends waiting bodies in order. Bodies with too small a stream window keep their place.
    private mutating func sendWaiting(to writer: inout FrameWriter) {
        var stuck: [Delivery] = []
        while connectionWindow > 0, let delivery = waiting.popFirst() {
            if !sendWhatFits(delivery, to: &writer) { stuck.append(delivery) }
        }
        for delivery in stuck.reversed() { waiting.prepend(delivery) }
    }

    /// Widens the window of one push's stream, or of the whole connection.
    mutating func widen(
        _ delivery: Delivery?, by increment: Int, _ writer: inout FrameWriter
    ) throws(ProtocolViolation) {
        if let delivery {
            delivery.window = try Self.sum(delivery.window, increment)
        } else {
            connectionWindow = try Self.sum(connectionWindow, increment)
        }
        if !waiting.isEmpty { sendWaiting(to: &writer) }
    }

    /// Sets the initial window of streams, and adjusts those of open streams by the difference, possibly below zero.
    mutating func beginWith(
        _ window: Int, open streams: some Sequence<Delivery>, _ writer: inout FrameWriter
    ) throws(ProtocolViolation) {
        let change = window - initialWindow
        guard change != 0 else { return }
        initialWindow = window
        for delivery in streams { delivery.window = try Self.sum(delivery.window, change) }
        if !waiting.isEmpty { sendWaiting(to: &writer) }
    }

    private static func sum(_ window: Int, _ change: Int) throws(ProtocolViolation) -> Int {
        try demand(window + change <= HTTP2Size.maximumWindow, .flowControlError, "a window that is too large")
        return window + change
    }
}
