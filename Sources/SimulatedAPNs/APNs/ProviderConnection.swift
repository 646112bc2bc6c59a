internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2
internal import SealedPush

/// One provider's connection, frame by frame: a channel for each stream would cost more than all of the checks.
final class ProviderConnection: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    let core: LocalAPNsCore
    let number: Int
    private var identity = ConnectionIdentity()
    private var throttle: StreamThrottle
    /// Requests that have not ended yet.
    private var requests: [HTTP2StreamID: (request: ProviderRequest, start: NIODeadline)] = [:]
    /// Answers that wait for the latency fault.
    private var delayed: Set<HTTP2StreamID> = []
    private var random = SplitMix64(state: .random(in: 0 ... .max))
    private var requestCount = 0
    private var lastStream = HTTP2StreamID.rootStream
    private var lastRequest = NIODeadline.now()
    /// Bytes that were read and not yet given back to the peer's window.
    private var unreturnedByteCount = 0
    private var isClosing = false
    /// Whether it was told to end, and has its time for that.
    private var isGoingAway = false
    private var ticking: RepeatedTask?

    init(core: LocalAPNsCore, number: Int) {
        self.core = core
        self.number = number
        throttle = StreamThrottle(core.configuration)
    }

    /// The first SETTINGS, as observed at Apple's, but for one stream until a provider token was good.
    static func settings(_ configuration: LocalAPNsConfiguration) -> HTTP2Settings {
        [
            HTTP2Setting(parameter: .headerTableSize, value: 4_096),
            HTTP2Setting(parameter: .maxConcurrentStreams, value: 1),
            HTTP2Setting(parameter: .initialWindowSize, value: 65_535),
            HTTP2Setting(parameter: .maxFrameSize, value: 16_384),
            HTTP2Setting(parameter: .maxHeaderListSize, value: 8_000),
        ]
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let configuration = core.configuration
        let interval = TimeAmount.milliseconds(
            max(10, min(1_000, min(configuration.requestTimeout, configuration.idleTimeout).milliseconds / 4)))
        let this = NIOLoopBound(self, eventLoop: context.eventLoop)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        ticking = context.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            this.value.tick(bound.value)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        ticking?.cancel()
        core.close(number)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let headers): receive(headers, on: frame.streamID, context)
        case .data(let data): receive(data, on: frame.streamID, context)
        case .rstStream:
            requests[frame.streamID] = nil
            delayed.remove(frame.streamID)
        case .goAway: isClosing = true
        default: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if unreturnedByteCount >= 16_384 {
            write(.windowUpdate(windowSizeIncrement: unreturnedByteCount), on: .rootStream, context)
            unreturnedByteCount = 0
        }
        context.flush()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? GoAwayEvent {
            goAway(event.reason, context)
        } else if let event = event as? StreamClosedEvent {
            requests[event.streamID] = nil
            delayed.remove(event.streamID)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Of one stream: it has been reset, and the others go on.
        if error is NIOHTTP2Errors.StreamError { return }
        // RFC 9113, 6.8: what the peer had sent before it saw GOAWAY is ignored. The library drops such streams' headers, and
        // then misses the stream for their data. It must not cost the peer the answers to what was taken.
        if isGoingAway { return }
        core.log.append(
            event: "connection-error", at: core.configuration.now(),
            ["connection": .integer(Int64(number)), "error": .string(String(describing: type(of: error)))])
        context.close(promise: nil)
    }

    // MARK: Requests

    private func receive(
        _ headers: HTTP2Frame.FramePayload.Headers, on stream: HTTP2StreamID, _ context: ChannelHandlerContext
    ) {
        if let open = requests[stream] {
            // Trailers: nothing in them matters.
            if headers.endStream { end(open.request, on: stream, context) }
            return
        }
        guard !isClosing, stream > lastStream else { return }
        lastStream = stream
        let request = ProviderRequest(headers.headers)
        if headers.endStream {
            end(request, on: stream, context)
        } else {
            requests[stream] = (request, .now())
        }
    }

    private func receive(
        _ data: HTTP2Frame.FramePayload.Data, on stream: HTTP2StreamID, _ context: ChannelHandlerContext
    ) {
        guard case .byteBuffer(var bytes) = data.data else { return }
        unreturnedByteCount += bytes.readableBytes + (data.paddingBytes.map { $0 + 1 } ?? 0)
        guard requests[stream] != nil else { return }
        requests[stream]?.request.append(&bytes)
        guard let open = requests[stream] else { return }
        if data.endStream {
            end(open.request, on: stream, context)
        } else if open.request.bodyByteCount > Self.patience {
            // It is too large already; what else comes is not waited for.
            end(open.request, on: stream, context)
            write(.rstStream(.noError), on: stream, context)
        }
    }

    private func end(_ request: ProviderRequest, on stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
        requests[stream] = nil
        requestCount += 1
        lastRequest = .now()
        let handled = core.handle(
            request, identity: &identity, random: &random, connection: number, stream: stream)
        for limit in throttle.count(handled) {
            write(
                .settings(.settings([HTTP2Setting(parameter: .maxConcurrentStreams, value: limit)])), on: .rootStream,
                context)
        }
        if handled.fault.latencyMilliseconds > 0 {
            delay(handled, on: stream, context)
        } else {
            answer(handled, on: stream, context)
        }
        let every = core.faults.goAwayEvery
        if throttle.isOutOfPatience {
            goAway(handled.refusal?.reason ?? .forbidden, context)
        } else if every > 0, requestCount % every == 0 {
            goAway(nil, context)
        }
    }

    private func delay(_ handled: LocalAPNsCore.Handled, on stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
        delayed.insert(stream)
        let this = NIOLoopBound(self, eventLoop: context.eventLoop)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        let late = NIOLoopBound(handled, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: .milliseconds(Int64(handled.fault.latencyMilliseconds))) {
            guard this.value.delayed.remove(stream) != nil else { return }
            this.value.answer(late.value, on: stream, bound.value)
            bound.value.flush()
        }
    }

    private func answer(_ handled: LocalAPNsCore.Handled, on stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
        switch handled.fault.answer {
        case .lost: return
        case .reset: return write(.rstStream(.internalError), on: stream, context)
        case .given: break
        }
        var headers = HPACKHeaders()
        headers.add(name: ":status", value: String(handled.refusal?.reason.status ?? 200))
        headers.add(name: "apns-id", value: handled.apnsID, indexing: .nonIndexable)
        guard let refusal = handled.refusal else {
            if core.configuration.environment == .sandbox {
                headers.add(name: "apns-unique-id", value: UUIDText.make(using: &random), indexing: .nonIndexable)
            }
            write(.headers(.init(headers: headers, endStream: true)), on: stream, context)
            return
        }
        headers.add(name: "content-type", value: "application/json")
        write(.headers(.init(headers: headers)), on: stream, context)
        let body = context.channel.allocator.buffer(string: refusal.json)
        write(.data(.init(data: .byteBuffer(body), endStream: true)), on: stream, context)
    }

    // MARK: The end

    private func tick(_ context: ChannelHandlerContext) {
        let now = NIODeadline.now()
        let timeout = TimeAmount.milliseconds(core.configuration.requestTimeout.milliseconds)
        for (stream, open) in requests where now - open.start > timeout {
            requests[stream] = nil
            write(.rstStream(.cancel), on: stream, context)
        }
        if now - lastRequest > .milliseconds(core.configuration.idleTimeout.milliseconds) {
            goAway(.idleTimeout, context)
        }
        context.flush()
    }

    /// Answers what has come so far, takes no more, and closes a little later: closing at once could throw away what the
    /// peer has not read yet.
    private func goAway(_ reason: APNsReason?, _ context: ChannelHandlerContext) {
        guard !isClosing else { return }
        isClosing = true
        isGoingAway = true
        let json = context.channel.allocator.buffer(string: reason.map { APNsRefusal($0).json } ?? "")
        write(
            .goAway(lastStreamID: lastStream, errorCode: .noError, opaqueData: reason == nil ? nil : json),
            on: .rootStream, context)
        context.flush()
        core.log.append(
            event: "goaway", at: core.configuration.now(),
            ["connection": .integer(Int64(number)), "reason": reason.map { .string($0.rawValue) } ?? .null])
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: .milliseconds(core.configuration.closingTime.milliseconds)) {
            bound.value.close(promise: nil)
        }
    }

    private func write(_ payload: HTTP2Frame.FramePayload, on stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: payload)), promise: nil)
    }

    private static let patience = 65_536
}

/// Tells a connection to end.
struct GoAwayEvent: Sendable {
    let reason: APNsReason?
}

extension Duration {
    var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
