internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2
internal import NIOTLS
internal import PushSender

/// One HTTP/2 connection: the last handler of its channel, which deals in frames and keeps the open streams itself.
///
/// There is no channel for each stream: Docs/Decisions/0020-frames-without-stream-channels.md. Unchecked, because it is
/// confined to its lane's event loop.
final class APNSConnection: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    enum Phase {
        /// Until the peer's SETTINGS.
        case connecting
        case ready
        /// No new streams; it closes after the last answer.
        case draining
        case closed
    }

    let number: Int
    let lane: Lane
    private(set) var phase = Phase.connecting
    /// Whether APNs has accepted a push on it: until then it takes one stream at a time.
    var hasSucceeded = false
    /// Whether its end has been reported to the lane.
    var isRetired = false

    var streams: [HTTP2StreamID: Delivery] = [:]
    var peerStreamLimit = 0
    private var nextStreamID: Int32 = 1
    private var needsFlush = false
    private var isClosing = false

    let openedAt: NIODeadline
    var lastReceivedAt: NIODeadline
    var lastUsedAt: NIODeadline
    var pingSentAt: NIODeadline?
    /// Why it ends, once it is known: the first reason is the one that counts.
    var endReason: String?
    var context: ChannelHandlerContext?

    init(number: Int, lane: Lane, now: NIODeadline) {
        self.number = number
        self.lane = lane
        openedAt = now
        lastReceivedAt = now
        lastUsedAt = now
    }

    /// How many more pushes it takes now.
    var freeStreamCount: Int {
        guard phase == .ready else { return 0 }
        return max(0, (hasSucceeded ? peerStreamLimit : min(1, peerStreamLimit)) - streams.count)
    }

    /// Whether it is at the peer's own limit, so that only another connection would help.
    var isFull: Bool { phase == .ready && hasSucceeded && streams.count >= peerStreamLimit }

    /// Whether it takes pushes, now or soon.
    var isLive: Bool { phase == .connecting || phase == .ready }

    // MARK: Sending

    /// Writes a push, to be flushed by ``flush()``. Only with a free stream.
    func send(_ delivery: Delivery, token: ProviderToken) {
        guard let context else { return }
        let streamID = HTTP2StreamID(Int(nextStreamID))
        delivery.connection = self
        delivery.streamID = nextStreamID
        delivery.attemptCount += 1
        delivery.tokenGeneration = token.generation
        delivery.response = PartialResponse()
        streams[streamID] = delivery
        // About a billion pushes fit on one connection.
        if nextStreamID >= Int32.max - 2 { retire(because: "its stream IDs are used up") } else { nextStreamID += 2 }

        let headers = lane.requestHeaders.block(for: delivery.request, authorization: token.authorization)
        write(.headers(.init(headers: headers)), to: streamID, context)
        let body = ByteBuffer(bytes: delivery.request.body)
        write(.data(.init(data: .byteBuffer(body), endStream: true)), to: streamID, context)
    }

    /// Sends what was written.
    func flush() {
        guard needsFlush, let context else { return }
        needsFlush = false
        context.flush()
    }

    /// Takes a push off its stream and tells the peer. The caller has its answer already or gets it now.
    func abandon(_ streamID: HTTP2StreamID) -> Delivery? {
        guard let delivery = streams.removeValue(forKey: streamID) else { return nil }
        delivery.connection = nil
        if let context { write(.rstStream(.cancel), to: streamID, context) }
        return delivery
    }

    /// Its caller waits no more.
    func cancel(_ delivery: Delivery) {
        _ = abandon(HTTP2StreamID(Int(delivery.streamID)))
        closeIfDrained()
        flush()
    }

    func write(_ payload: HTTP2Frame.FramePayload, to streamID: HTTP2StreamID, _ context: ChannelHandlerContext) {
        needsFlush = true
        context.write(wrapOutboundOut(HTTP2Frame(streamID: streamID, payload: payload)), promise: nil)
    }

    // MARK: Phases

    /// The peer's first settings are here.
    func becomeReady() {
        guard phase == .connecting else { return }
        phase = .ready
        lane.connectionIsReady(self)
    }

    /// Takes no new pushes; closes when it owes no answer.
    func retire(because reason: String) {
        if phase == .connecting { return close(because: reason) }
        guard phase == .ready else { return }
        phase = .draining
        if endReason == nil { endReason = reason }
        lane.connectionRetired(self)
        closeIfDrained()
    }

    func closeIfDrained() {
        guard phase == .draining, streams.isEmpty, !isClosing, let context else { return }
        isClosing = true
        write(.goAway(lastStreamID: .rootStream, errorCode: .noError, opaqueData: nil), to: .rootStream, context)
        flush()
        context.close(promise: nil)
    }

    /// Closes at once; what is in flight fails.
    func close(because reason: String) {
        guard phase != .closed else { return }
        if endReason == nil { endReason = reason }
        if let context { context.close(mode: .all, promise: nil) }
        // Not waiting for the peer's side of the farewell: its silence may be the reason.
        end()
    }

    /// The connection is over, whoever ended it.
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
}
