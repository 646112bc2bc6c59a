internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes
internal import PushCore

/// The connections of one listener, up to a limit. When there are too many, the connection that has been idle longest is
/// closed to make room, so that a client that only holds connections can't keep others out. There is no limit per address:
/// behind a proxy, all phones share one. Thread-safe.
final class ConnectionCount: Sendable {
    private let maximumCount: Int
    private let state = Locked(State())

    private struct State {
        var count = 0
        var idleCount = 0
        /// Connections without a request, and their order.
        var idle: [ObjectIdentifier: (number: Int, channel: any Channel)] = [:]

        mutating func append(_ channel: any Channel) {
            idleCount += 1
            idle[ObjectIdentifier(channel)] = (idleCount, channel)
        }
    }

    init(_ maximumCount: Int) {
        // The process must always be able to open other files.
        self.maximumCount = min(maximumCount, max(1, (Descriptors.limit - 64) / 2))
    }

    /// Counts a connection until it is closed. Returns false if it must be closed at once.
    func open(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        let (isOpen, ousted) = state.withLock { state -> (Bool, (any Channel)?) in
            var ousted: (id: ObjectIdentifier, (number: Int, channel: any Channel))?
            if state.count >= maximumCount {
                ousted = state.idle.min { $0.value.number < $1.value.number }.map { ($0.key, $0.value) }
                guard let ousted else { return (false, nil) }
                state.idle[ousted.id] = nil
            }
            state.count += 1
            state.append(channel)
            return (true, ousted?.1.channel)
        }
        ousted?.close(promise: nil)
        guard isOpen else { return false }
        channel.closeFuture.whenComplete { [state] _ in
            state.withLock { state in
                state.count -= 1
                state.idle[id] = nil
            }
        }
        return true
    }

    func hasRequest(_ channel: any Channel) { state.withLock { $0.idle[ObjectIdentifier(channel)] = nil } }

    func isIdle(_ channel: any Channel) { if channel.isActive { state.withLock { $0.append(channel) } } }
}

/// Closes a connection that takes too long for its first request, or for any request or its response, or that sends more
/// than the maximum for a request. Between two requests, Hummingbird's own limit for idle connections applies.
final class ConnectionLimits: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart

    private let count: ConnectionCount
    private let firstHeadTime: Duration
    private let requestTime: Duration
    private let maximumByteCount: Int
    private var reading: Scheduled<Void>?
    private var writing: Scheduled<Void>?
    private var byteCount = 0
    private var hasRequest = false
    /// The number of requests whose responses aren't written yet.
    private var openCount = 0

    init(_ count: ConnectionCount, firstHeadTime: Duration, requestTime: Duration, maximumByteCount: Int) {
        self.count = count
        self.firstHeadTime = firstHeadTime
        self.requestTime = requestTime
        self.maximumByteCount = maximumByteCount
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        if let decoder = try? pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self) {
            try? pipeline.addHandler(OlderRequests(), position: .after(decoder))
        }
        if context.channel.isActive { begin(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard reading == nil, !hasRequest else { return }
        guard count.open(context.channel) else { return context.close(promise: nil) }
        reading = deadline(firstHeadTime, context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        reading?.cancel()
        writing?.cancel()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            count.hasRequest(context.channel)
            hasRequest = true
            openCount += 1
            byteCount = 0
            reading?.cancel()
            reading = deadline(requestTime, context)
        case .body(let bytes):
            byteCount += bytes.readableBytes
            guard byteCount <= maximumByteCount else { return context.close(promise: nil) }
        case .end: reading.take()?.cancel()
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head:
            writing?.cancel()
            writing = deadline(requestTime, context)
            context.write(data, promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            let written = promise ?? context.eventLoop.makePromise()
            let bound = NIOLoopBound((self, context.channel), eventLoop: context.eventLoop)
            written.futureResult.whenComplete { _ in
                let (limits, channel) = bound.value
                limits.writing.take()?.cancel()
                limits.openCount -= 1
                if limits.openCount == 0 { limits.count.isIdle(channel) }
            }
            context.write(data, promise: written)
        }
    }

    private func deadline(_ time: Duration, _ context: ChannelHandlerContext) -> Scheduled<Void> {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        return context.eventLoop.scheduleTask(in: TimeAmount(time)) { bound.value.close(promise: nil) }
    }
}

/// Implements what a request's HTTP version requires of the connection and Hummingbird doesn't support. After a response to
/// HTTP/1.0, the connection is closed. A client that expects `100-continue` is told to send the body. Source: RFC 9110,
/// 10.1.1; RFC 9112, 9.3.
private final class OlderRequests: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        let isOld = head.version == .http1_0
        if isOld || !head.isKeepAlive { head.headers.replaceOrAdd(name: "connection", value: "close") }
        context.fireChannelRead(wrapInboundOut(.head(head)))
        let expected = head.headers.first(name: "expect") ?? ""
        if !isOld, expected.utf8.count == 12, expected.lowercased() == "100-continue" {
            let answer = HTTPResponseHead(version: head.version, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(answer)), promise: nil)
        }
    }
}
