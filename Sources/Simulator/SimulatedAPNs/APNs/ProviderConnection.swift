internal import Foundation
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2
internal import SealedPush

/// One provider's connection, handled frame by frame. A channel for each stream would cost more than all the checks.
final class ProviderConnection: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    let core: LocalAPNsCore
    let number: Int
    private var identity = ConnectionIdentity()
    private var throttle = StreamThrottle()
    /// The requests that aren't complete yet.
    var requests: [HTTP2StreamID: (request: ProviderRequest, start: NIODeadline)] = [:]
    /// The requests that are answered before they are complete.
    private var cutShort: Set<HTTP2StreamID> = []
    /// The streams whose responses wait for the latency fault.
    var delayed: Set<HTTP2StreamID> = []
    private var requestCount = 0
    private(set) var lastStream = HTTP2StreamID.rootStream
    private(set) var lastRequest = NIODeadline.now()
    /// The bytes that the peer may still send. Data for streams that have ended counts, too, and isn't visible elsewhere.
    private var windowByteCount = ProviderConnection.fullWindowByteCount
    /// The deadline after a GOAWAY, and whether the peer sent it.
    var closing: (deadline: NIODeadline, isByPeer: Bool)?
    /// The handshake timeout; nil once the first frame has arrived.
    private var opening: Scheduled<Void>?
    var ticking: RepeatedTask?

    /// - Parameter opening: The task that closes the connection unless it is canceled.
    init(core: LocalAPNsCore, number: Int, opening: Scheduled<Void>) {
        self.core = core
        self.number = number
        self.opening = opening
    }

    /// The first SETTINGS, as observed from Apple's servers, but with a single stream until a push is accepted.
    static func settings(_ configuration: LocalAPNsConfiguration) -> HTTP2Settings {
        [
            HTTP2Setting(parameter: .headerTableSize, value: 4_096),
            HTTP2Setting(parameter: .maxConcurrentStreams, value: 1),
            HTTP2Setting(parameter: .initialWindowSize, value: 65_535),
            HTTP2Setting(parameter: .maxFrameSize, value: 16_384),
            HTTP2Setting(parameter: .maxHeaderListSize, value: maximumHeaderByteCount),
        ]
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let configuration = core.configuration
        let interval = TimeAmount(
            max(.milliseconds(10), min(.seconds(1), min(configuration.requestTimeout, configuration.idleTimeout) / 4)))
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
        // The first frame must be the peer's SETTINGS.
        opening.take()?.cancel()
        switch frame.payload {
        case .headers(let headers): receive(headers, on: frame.streamID, context)
        case .data(let data): receive(data, on: frame.streamID, context)
        case .rstStream:
            core.note("peer-reset", connection: number, ["stream": .integer(Int64(Int(frame.streamID)))])
            forget(frame.streamID, context)
        case .goAway: peerGoesAway(context)
        default: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        let taken = Self.fullWindowByteCount - windowByteCount
        if taken >= 16_384 {
            windowByteCount = Self.fullWindowByteCount
            write(.windowUpdate(windowSizeIncrement: taken), on: .rootStream, context)
        }
        context.flush()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? NIOHTTP2WindowUpdatedEvent {
            if event.streamID == .rootStream, let count = event.inboundWindowSize { windowByteCount = count }
        } else if let event = event as? StreamClosedEvent {
            forget(event.streamID, context)
        } else if let event = event as? GoAwayEvent {
            goAway(event.reason, context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func forget(_ stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
        requests[stream] = nil
        delayed.remove(stream)
        cutShort.remove(stream)
        if closing != nil { closeIfDone(context) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The error affects one stream, which has been reset. The others continue.
        if error is NIOHTTP2Errors.StreamError { return }
        // RFC 9113, 6.8: ignore what the peer sent before it saw GOAWAY. The library drops such streams' headers and then
        // reports their data as an error, which must not cost the peer the responses to earlier requests.
        if let closing, !closing.isByPeer { return }
        core.note("connection-error", connection: number, ["error": .string(String(describing: type(of: error)))])
        context.close(promise: nil)
    }

    // MARK: Requests

    private func receive(
        _ headers: HTTP2Frame.FramePayload.Headers, on stream: HTTP2StreamID, _ context: ChannelHandlerContext
    ) {
        if let open = requests[stream] {
            // These are trailers, whose contents don't matter.
            if headers.endStream { end(open.request, on: stream, context) }
            return
        }
        guard closing == nil, stream > lastStream else { return }
        lastStream = stream
        let request = ProviderRequest(headers.headers)
        guard request.headerByteCount <= Self.maximumHeaderByteCount else {
            core.note("headers-too-long", connection: number, ["stream": .integer(Int64(Int(stream)))])
            return write(.rstStream(.enhanceYourCalm), on: stream, context)
        }
        if headers.endStream { end(request, on: stream, context) } else { requests[stream] = (request, .now()) }
    }

    private func receive(
        _ data: HTTP2Frame.FramePayload.Data, on stream: HTTP2StreamID, _ context: ChannelHandlerContext
    ) {
        guard case .byteBuffer(var bytes) = data.data else { return }
        guard requests[stream] != nil else { return }
        requests[stream]?.request.append(&bytes)
        guard let open = requests[stream] else { return }
        if data.endStream {
            end(open.request, on: stream, context)
        } else if open.request.bodyByteCount > Self.patience {
            // The body is already too large, so don't wait for the rest.
            cutShort.insert(stream)
            end(open.request, on: stream, context)
        }
    }

    private func end(_ request: ProviderRequest, on stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
        requests[stream] = nil
        requestCount += 1
        lastRequest = .now()
        let handled = core.handle(request, identity: &identity, connection: number, stream: stream)
        let faults = core.faults
        // A response that the peer doesn't receive must not change its stream limit.
        if handled.fault.answer == .given,
            let limit = throttle.count(handled.refusal, afterError: faults.streamsAfterError)
        {
            write(
                .settings(.settings([HTTP2Setting(parameter: .maxConcurrentStreams, value: limit)])), on: .rootStream,
                context)
        }
        if handled.fault.latencyMilliseconds > 0 {
            delay(handled, on: stream, context)
        } else {
            answer(handled, on: stream, context)
        }
        if faults.goAwayEvery > 0, requestCount % faults.goAwayEvery == 0 { goAway(nil, context) }
        if closing != nil { closeIfDone(context) }
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
            this.value.closeIfDone(bound.value)
        }
    }

    private func answer(_ handled: LocalAPNsCore.Handled, on stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
        defer {
            if cutShort.remove(stream) != nil, handled.fault.answer == .given {
                // Flush the response first, because a reset discards anything that hasn't been flushed.
                context.flush()
                write(.rstStream(.noError), on: stream, context)
            }
        }
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
                headers.add(name: "apns-unique-id", value: UUID().uuidString.lowercased(), indexing: .nonIndexable)
            }
            write(.headers(.init(headers: headers, endStream: true)), on: stream, context)
            return
        }
        headers.add(name: "content-type", value: "application/json")
        write(.headers(.init(headers: headers)), on: stream, context)
        let body = context.channel.allocator.buffer(string: refusal.json)
        write(.data(.init(data: .byteBuffer(body), endStream: true)), on: stream, context)
    }

    func write(_ payload: HTTP2Frame.FramePayload, on stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: payload)), promise: nil)
    }

    /// The HTTP/2 handler enforces this limit only after the peer has acknowledged the settings.
    private static let maximumHeaderByteCount = 8_000
    /// A longer body is answered before it's complete. This is less than a stream's window, which is never enlarged.
    private static let patience = 8_192
    /// The connection's initial window. Source: RFC 9113, 6.9.2.
    private static let fullWindowByteCount = 65_535
}

/// The end of a connection: timeouts, GOAWAY from either side, and the responses that are still owed.
extension ProviderConnection {
    func tick(_ context: ChannelHandlerContext) {
        let now = NIODeadline.now()
        let timeout = TimeAmount(core.configuration.requestTimeout)
        for (stream, open) in requests where now - open.start > timeout {
            requests[stream] = nil
            core.note("request-timeout", connection: number, ["stream": .integer(Int64(Int(stream)))])
            write(.rstStream(.cancel), on: stream, context)
        }
        if now - lastRequest > TimeAmount(core.configuration.idleTimeout) { goAway(.idleTimeout, context) }
        context.flush()
        closeIfDone(context)
    }

    /// Sends GOAWAY: answers the requests received so far, accepts no more, and closes a little later. Closing immediately
    /// could discard data that the peer hasn't read yet.
    func goAway(_ reason: LocalAPNsReason?, _ context: ChannelHandlerContext) {
        guard closing == nil else { return }
        let json = context.channel.allocator.buffer(string: reason.map { LocalAPNsRefusal($0).json } ?? "")
        write(
            .goAway(lastStreamID: lastStream, errorCode: .noError, opaqueData: reason == nil ? nil : json),
            on: .rootStream, context)
        context.flush()
        core.note("goaway", connection: number, ["reason": reason.map { .string($0.rawValue) } ?? .null])
        beginClosing(isByPeer: false, context)
    }

    /// Handles the peer's GOAWAY, after which it expects only the responses to its earlier requests.
    func peerGoesAway(_ context: ChannelHandlerContext) {
        core.note("peer-goaway", connection: number)
        guard closing == nil else { return }
        beginClosing(isByPeer: true, context)
        closeIfDone(context)
    }

    private func beginClosing(isByPeer: Bool, _ context: ChannelHandlerContext) {
        let time = TimeAmount(core.configuration.closingTime)
        closing = (NIODeadline.now() + time, isByPeer)
        let this = NIOLoopBound(self, eventLoop: context.eventLoop)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: time) { this.value.closeIfDone(bound.value) }
    }

    /// Closes the connection if nothing is owed. Waits for incomplete requests until the grace period ends, and for
    /// delayed responses as long as they take, because they were promised.
    func closeIfDone(_ context: ChannelHandlerContext) {
        guard let closing, delayed.isEmpty else { return }
        guard NIODeadline.now() >= closing.deadline || (closing.isByPeer && requests.isEmpty) else { return }
        context.flush()
        context.close(promise: nil)
    }
}

/// An event that makes a connection send GOAWAY.
struct GoAwayEvent: Sendable { let reason: LocalAPNsReason? }

/// The stream limit of a connection: one until a push is accepted, fewer after an error, and the maximum after a success.
///
/// Source: Apple, "Sending notification requests to APNs"; the numbers were observed.
struct StreamThrottle {
    private var current = 1
    private var hasSucceeded = false

    /// Returns the limit to announce after a request, or nil if it has not changed.
    mutating func count(_ refusal: LocalAPNsRefusal?, afterError: Int) -> Int? {
        var wanted = current
        if let refusal {
            if refusal.reason.isErrorCondition, hasSucceeded { wanted = min(afterError, Self.limit) }
        } else {
            hasSucceeded = true
            wanted = Self.limit
        }
        defer { current = wanted }
        return wanted == current ? nil : wanted
    }

    static let limit = 1_000
}
