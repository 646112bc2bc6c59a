internal import NIOCore
internal import NIOExtras
internal import NIOHPACK
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import NIOTLS
internal import PushSender

/// An HTTP/2 connection: the handler right after TLS, which reads and writes frames. Its ``ConnectionState`` decides what
/// happens; the handler performs it. Streams have no channels of their own; see Docs/Decisions/0020-http2-frames-of-our-own.md.
/// Its `Sendable` conformance is unchecked, because it's confined to its pool's event loop.
final class APNsConnection: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let number: Int
    let pool: ConnectionPool
    var state: ConnectionState<PendingPush>

    private var reader = FrameReader()
    private var writer = FrameWriter()
    private var headerEncoder: HeaderEncoder
    private var headerDecoder = HPACKDecoder(
        allocator: ByteBufferAllocator(), maxDynamicTableSize: HTTP2Size.headerTable,
        maxHeaderListSize: APNsConnection.maximumHeaderByteCount)
    private(set) var context: ChannelHandlerContext?

    // State that the pool maintains.
    /// Whether the pool knows that the connection accepts no more pushes.
    var isRetired = false
    var isEndedByUs = false
    /// Whether the peer's request to slow down has been handled.
    var isSlowedDown = false

    init(number: Int, pool: ConnectionPool, now: NIODeadline) {
        self.number = number
        self.pool = pool
        state = ConnectionState(number: number, firstStreamID: pool.dispatcher.limits.firstStreamID, now: now)
        headerEncoder = HeaderEncoder(endpoint: pool.endpoint)
    }

    // MARK: For the pool

    /// Writes a push, which ``flush()`` sends. Requires a free stream.
    func send(_ delivery: PendingPush, token: ProviderToken) {
        let streamID = state.open(
            delivery, bodyByteCount: delivery.request.body.count, deadline: delivery.deadline)
        delivery.sent(on: self, streamID, token)
        writer.headers(on: streamID) { headerEncoder.write(delivery.request, token, to: &$0) }
        perform()
    }

    func flush() {
        guard !writer.isEmpty, let context else { return }
        context.writeAndFlush(wrapOutboundOut(writer.bytes), promise: nil)
        writer.clear()
    }

    /// Removes a push, whose caller already has its result.
    func cancel(_ delivery: PendingPush) {
        delivery.connection = nil
        state.cancel(delivery.streamID)
        perform()
        flush()
    }

    /// Stops accepting pushes, and closes after the last outstanding response. `isOurs` says whether the connection is
    /// fine, so that the next one need not wait.
    func retire(because reason: String, isOurs: Bool = false) {
        state.retire(because: reason, isOurs: isOurs)
        perform()
    }

    /// Closes at once, failing the pushes in flight.
    func close(because reason: String) {
        state.close(because: reason)
        perform()
    }

    func tick(now: NIODeadline) {
        state.tick(now: now, pool.deadlines, isWanted: !pool.waiting.isEmpty)
        perform()
        flush()
    }

    /// A response's headers take about 200 bytes.
    static let maximumHeaderByteCount = 8_192
}

/// The actions of the connection's state.
extension APNsConnection {
    private func perform() { while let action = state.nextAction() { perform(action) } }

    private func perform(_ action: consuming ConnectionState<PendingPush>.Action) {
        switch action {
        case .acknowledgeSettings: writer.acknowledgeSettings()
        case .data(let delivery, let streamID, let range, let isLast):
            writer.data(delivery.request.body[range], on: streamID, isLast: isLast)
        case .reset(let streamID, let code): writer.reset(streamID, code)
        case .widenConnection(let increment): writer.windowUpdate(increment)
        case .ping(let data, let isAnswer): writer.ping(data, isAnswer: isAnswer)
        case .goAway(let code):
            writer.goAway(code)
            flush()
        case .limitHeaderTable(let byteCount): headerEncoder.limitTable(to: byteCount)

        case .answered(let delivery, let answer):
            delivery.connection = nil
            pool.answered(delivery, answer, on: self)
        case .timedOut(let delivery, let answer):
            delivery.connection = nil
            pool.end(delivery, answer, .timedOut)
        case .lost(let delivery, let answer, let reason, let surelyUnsent):
            delivery.connection = nil
            pool.lost(delivery, answer, because: reason, surelyUnsent: surelyUnsent)

        case .ready: pool.connectionIsReady(self)
        case .settled: pool.backoff.succeeded()
        case .slowDown(let reason): pool.slowDown(self, because: reason)
        case .wentAway(let reason): pool.observer.wentAway(connection: number, reason: reason)
        case .retired(let isOurs): pool.connectionRetired(self, isOurs: isOurs)
        case .close(let isOrderly): closeChannel(isOrderly: isOrderly)
        case .ended(let reason, let wasOfUse):
            pool.connectionEnded(self, reason: reason, wasOfUse: wasOfUse)
            context = nil
        }
    }

    private func closeChannel(isOrderly: Bool) {
        guard let context else { return }
        if isOrderly { return context.close(promise: nil) }
        // Starts at the TLS handler, which therefore doesn't see the call.
        let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self)
        (tls ?? context).close(mode: .all, promise: nil)
    }
}

/// Connecting, and the channel's events.
extension APNsConnection {
    /// Looks up the name again, connects, and performs the TLS handshake.
    func open() {
        let peer = pool.proxy ?? pool.endpoint
        guard let bootstrap = ClientBootstrap(validatingGroup: pool.eventLoop) else {
            return pool.eventLoop.execute { self.close(because: "this event loop can't open connections") }
        }
        // The pool checks the deadline for the whole process. This one only frees the socket.
        bootstrap.connectTimeout(pool.deadlines.connect)
            .connect(host: peer.host, port: peer.port)
            .flatMap { [self] in pool.proxy != nil ? tunnel(through: $0) : pool.eventLoop.makeSucceededFuture($0) }
            .whenComplete { [self] result in
                switch result {
                case .success(let channel): connected(channel)
                case .failure(let error): close(because: ConnectionFault.text(error, at: peer))
                }
            }
    }

    /// Asks the proxy for a connection to the endpoint, whose bytes the channel then carries. Source: RFC 9110, 9.3.6.
    private func tunnel(through channel: any Channel) -> EventLoopFuture<any Channel> {
        let isOpen = pool.eventLoop.makePromise(of: Void.self)
        let (encoder, decoder) = (HTTPRequestEncoder(), ByteToMessageHandler(HTTPResponseDecoder()))
        let endpoint = pool.endpoint
        let handler = NIOHTTP1ProxyConnectHandler(
            targetHost: endpoint.host, targetPort: endpoint.port, headers: ["Host": endpoint.description],
            deadline: .now() + pool.deadlines.connect, promise: isOpen)
        let pipeline = channel.pipeline.syncOperations
        do { try pipeline.addHandlers([encoder, decoder, handler]) } catch { isOpen.fail(error) }
        return isOpen.futureResult.assumeIsolated().flatMap { pipeline.removeHandler(decoder) }
            .flatMap { pipeline.removeHandler(encoder) }.map { channel }.nonisolated()
    }

    private func connected(_ channel: any Channel) {
        guard state.phase == .connecting else {
            channel.close(promise: nil)
            return
        }
        do {
            let tls = try pool.tls.makeHandler()
            try channel.pipeline.syncOperations.addHandlers([tls, self])
        } catch {
            channel.close(promise: nil)
            close(because: ConnectionFault.text(error, at: pool.endpoint))
        }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if !context.channel.isActive { close(because: "closed by the server") }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard state.phase != .closed, let event = event as? TLSUserEvent,
            case .handshakeCompleted(let negotiated) = event
        else { return }
        guard negotiated == "h2" else { return close(because: "the server does not offer HTTP/2 (ALPN h2)") }
        writer.preface(maximumHeaderByteCount: UInt32(Self.maximumHeaderByteCount))
        state.sentSettings()
        flush()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard state.phase != .closed else { return }
        reader.append(unwrapInboundIn(data))
        let now = pool.clock.now()
        do throws(ProtocolViolation) {
            while state.phase != .closed, let frame = try reader.next() {
                try take(frame, now: now)
                perform()
            }
        } catch {
            state.close(because: error)
            perform()
        }
    }

    private func take(_ frame: IncomingFrame, now: NIODeadline) throws(ProtocolViolation) {
        switch frame {
        case .headers(let streamID, var block, let isLast):
            let byteCount = block.readableBytes
            // Decodes headers of abandoned streams, too, to keep the table in sync.
            guard let headers = try? headerDecoder.decodeHeaders(from: &block) else {
                throw ProtocolViolation(.compressionError, "headers that are malformed or too long")
            }
            try state.headers(headers, byteCount: byteCount, on: streamID, isLast: isLast, now: now)
        case .data(let streamID, let bytes, let byteCount, let isLast):
            try state.data(bytes, flowControlledByteCount: byteCount, on: streamID, isLast: isLast, now: now)
        case .reset(let streamID, let code): try state.reset(streamID, code, now: now)
        case .settings(let settings): try state.settings(settings, isTaking: isTaking, now: now)
        case .settingsAcknowledged: try state.settingsAcknowledged()
        case .ping(let data): try state.ping(data, isTaking: isTaking, now: now)
        case .pingAnswer(let data): try state.pingAnswer(data, now: now)
        case .goAway(let lastStreamID, let code, let data):
            try state.goAway(lastStreamID: lastStreamID, code, data, now: now)
        case .windowUpdate(let streamID, let increment): try state.widen(streamID, by: increment, now: now)
        case .other(let byteCount): try state.useless(byteCount: byteCount, now: now)
        }
    }

    /// Whether the peer reads the written data, or did until recently.
    private var isTaking: Bool { context?.channel.isWritable ?? true }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard state.phase != .closed else { return }
        let now = pool.clock.now()
        state.received(now: now)
        pool.dispatch(now: now)
        flush()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        close(because: ConnectionFault.text(error, at: pool.endpoint))
    }

    func channelInactive(context: ChannelHandlerContext) { end() }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    private func end() {
        state.end()
        perform()
    }
}
