internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes
internal import PushCore

/// Applies the limits of one connection: one request at a time (``Exchange``), its size, and the time for the first
/// request, and for any request or its response. Between two requests, Hummingbird's own limit for idle connections applies.
final class ConnectionLimits: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let count: ConnectionCount
    private let firstHeadTime: Duration
    private let requestTime: Duration
    private let intake: Intake
    private var reading: Scheduled<Void>?
    private var writing: Scheduled<Void>?
    /// The part of a body that the current read brought.
    private var body: ByteBuffer?
    private var hasRequest = false

    /// - Parameter maximumByteCount: The most bytes of a request on the wire.
    init(_ count: ConnectionCount, firstHeadTime: Duration, requestTime: Duration, maximumByteCount: Int) {
        self.count = count
        self.firstHeadTime = firstHeadTime
        self.requestTime = requestTime
        intake = Intake(Exchange(maximumByteCount: maximumByteCount))
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        do {
            try pipeline.addHandler(intake, position: .first)
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(Portions(intake), position: .before(decoder))
            try pipeline.addHandler(RequestHeads(), position: .after(decoder))
        } catch { preconditionFailure("an HTTP/1 connection has a decoder: \(error)") }
        if context.channel.isActive { begin(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard reading == nil, !hasRequest else { return }
        guard count.open(context.channel, close: intake.closing(on: context.eventLoop)) else { return intake.close() }
        reading = deadline(firstHeadTime, context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        reading?.cancel()
        writing?.cancel()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !intake.isClosed else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard intake.exchange.begin(isLast: head.headerFields[.connection] == "close") else {
                return intake.close()
            }
            count.hasRequest(context.channel)
            hasRequest = true
            reading?.cancel()
            reading = deadline(requestTime, context)
            context.fireChannelRead(data)
        case .body(var bytes):
            // One part for each read, because many tiny chunks would take far more memory than their bytes.
            if body == nil { body = bytes } else { body?.writeBuffer(&bytes) }
        case .end:
            intake.exchange.end()
            reading.take()?.cancel()
            fireBody(context)
            context.fireChannelRead(data)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        fireBody(context)
        context.fireChannelReadComplete()
    }

    private func fireBody(_ context: ChannelHandlerContext) {
        if let body = body.take() { context.fireChannelRead(wrapInboundOut(.body(body))) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            writing?.cancel()
            writing = deadline(requestTime, context)
            if intake.exchange.answer(isLast: head.headerFields[.connection] == "close") {
                head.headerFields[.connection] = "close"
            }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            let written = promise ?? context.eventLoop.makePromise()
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            written.futureResult.whenSuccess {
                let (limits, context) = bound.value
                limits.finish(context)
            }
            context.write(data, promise: written)
        }
    }

    private func finish(_ context: ChannelHandlerContext) {
        writing.take()?.cancel()
        count.isIdle(context.channel, close: intake.closing(on: context.eventLoop))
        guard intake.finish() else { return }
        reading?.cancel()
        reading = deadline(firstHeadTime, context)
        context.close(mode: .output, promise: nil)
    }

    private func deadline(_ time: Duration, _ context: ChannelHandlerContext) -> Scheduled<Void> {
        let bound = NIOLoopBound(intake, eventLoop: context.eventLoop)
        return context.eventLoop.scheduleTask(in: TimeAmount(time)) { bound.value.close() }
    }
}

/// A connection's first handler, even before TLS. It reads only when the ``Exchange`` allows it, counts, and closes.
private final class Intake: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    var exchange: Exchange
    private(set) var isClosed = false
    private var context: ChannelHandlerContext?
    private var wantsToRead = false

    /// Small, so that one read decodes few requests, and many connections hold little memory.
    private static let readByteCount = 4_096

    init(_ exchange: Exchange) { self.exchange = exchange }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let options = context.channel.syncOptions
        try? options?.setOption(.maxMessagesPerRead, value: 1)
        try? options?.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.readByteCount))
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func read(context: ChannelHandlerContext) {
        if exchange.isReading { context.read() } else { wantsToRead = true }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard exchange.receive(unwrapInboundIn(data).readableBytes) else { return close() }
        if exchange.phase != .lingering { context.fireChannelRead(data) }
    }

    /// The response was written. Returns whether the connection lingers.
    func finish() -> Bool {
        let isLast = exchange.finish()
        if wantsToRead {
            wantsToRead = false
            context?.read()
        }
        return isLast
    }

    /// Closes at once. Unlike other handlers' `close`, it doesn't wait up to five seconds for a TLS client to agree.
    func close() {
        isClosed = true
        context?.close(promise: nil)
    }

    /// Closes from any thread.
    func closing(on eventLoop: any EventLoop) -> @Sendable () -> Void {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        return { eventLoop.execute { bound.value.close() } }
    }
}

/// Passes bytes to the decoder in small portions, one in each turn of the event loop, so that no connection delays others. A
/// record of TLS has up to 16 KB, which are decrypted at once. Nothing is read until all portions are decoded.
private final class Portions: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private let intake: Intake
    private var rest = ByteBuffer()
    private var wantsToRead = false
    private var isScheduled = false
    /// Whether the client has sent everything, which the next handlers must learn after the last portion.
    private var isInputClosed = false

    init(_ intake: Intake) { self.intake = intake }

    func read(context: ChannelHandlerContext) {
        if rest.readableBytes == 0 { context.read() } else { wantsToRead = true }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if rest.readableBytes == 0 { rest = bytes } else { rest.writeBuffer(&bytes) }
        if !isScheduled { pass(context) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event as? ChannelEvent == .inputClosed, rest.readableBytes > 0
        else { return context.fireUserInboundEventTriggered(event) }
        isInputClosed = true
    }

    func channelInactive(context: ChannelHandlerContext) {
        rest.clear()
        context.fireChannelInactive()
    }

    private func pass(_ context: ChannelHandlerContext) {
        if intake.isClosed || intake.exchange.phase == .lingering { rest.clear() }
        let portion = rest.readSlice(length: intake.exchange.portion(of: rest.readableBytes))
        if let portion, portion.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(portion)) }
        guard rest.readableBytes == 0 else {
            isScheduled = true
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            return context.eventLoop.execute {
                let (portions, context) = bound.value
                portions.isScheduled = false
                guard context.channel.isActive else { return }
                portions.pass(context)
                context.fireChannelReadComplete()
            }
        }
        if isInputClosed {
            isInputClosed = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        if wantsToRead {
            wantsToRead = false
            context.read()
        }
    }
}
