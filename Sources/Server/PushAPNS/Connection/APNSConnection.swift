internal import NIOCore
internal import NIOHPACK
internal import NIOSSL
internal import PushSender

/// One HTTP/2 connection: the handler right after TLS, which reads and writes frames and keeps the open streams itself.
///
/// There is no channel for each stream: Docs/Decisions/0020-http2-frames-of-our-own.md. Unchecked, because it is
/// confined to its lane's event loop.
final class APNSConnection: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

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
    /// The lane's to keep.
    var health = ConnectionHealth()

    private(set) var streams: [Int32: Delivery] = [:]
    var resetStreams = ResetStreams()
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
    /// What the peer may still send on the whole connection.
    var receiveWindow = HTTP2Size.initialWindow
    var floodGuard = FloodGuard()
    var answers = UntakenAnswers()
    var goAwayCount = 0
    var awaitsSettingsAcknowledgement = false

    let openedAt: NIODeadline
    var lastReceivedAt: NIODeadline
    var lastUsedAt: NIODeadline
    var pingSentAt: NIODeadline?
    /// Why it ends, once it is known: what the peer's last GOAWAY says, or else the first reason.
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

    /// Whether the peer takes what is written, or has until lately.
    var isTaking: Bool { context?.channel.isWritable ?? true }

    // MARK: Sending

    /// Writes a push, to be sent by ``flush()``. Only with a free stream.
    func send(_ delivery: Delivery, token: ProviderToken) {
        let streamID = nextStreamID
        delivery.sent(on: self, streamID, token)
        streams[streamID] = delivery
        // About a billion pushes fit on one connection.
        if nextStreamID >= Int32.max - 2 { retire(because: "its stream IDs are used up", isOurs: true) }
        nextStreamID += 2

        floodGuard.pushed()
        writer.headers(on: streamID) { headerEncoder.write(delivery.request, token, to: &$0) }
        bodies.send(delivery, to: &writer)
    }

    /// Sends what was written.
    func flush() {
        guard !writer.isEmpty, let context else { return }
        context.writeAndFlush(wrapOutboundOut(writer.bytes), promise: nil)
        writer.clear()
    }

    /// Takes a push off its stream and tells the peer. The caller has its answer already or gets it now.
    func abandon(_ streamID: Int32) -> Delivery? {
        guard let delivery = removeStream(streamID) else { return nil }
        delivery.connection = nil
        resetStreams.insert(streamID)
        floodGuard.gaveUp()
        writer.reset(streamID, .cancel)
        return delivery
    }

    func removeStream(_ streamID: Int32) -> Delivery? {
        guard let delivery = streams.removeValue(forKey: streamID) else { return nil }
        bodies.forget(delivery)
        return delivery
    }

    /// Its caller waits no more.
    func cancel(_ delivery: Delivery) {
        _ = abandon(delivery.streamID)
        closeIfDrained()
        flush()
    }

    /// The peer allows us another size of its header table.
    func limitHeaderTable(to byteCount: Int) { headerEncoder.limitTable(to: byteCount) }

    // MARK: Phases

    /// The peer's first settings are here.
    func becomeReady() {
        guard phase == .connecting else { return }
        phase = .ready
        lane.connectionIsReady(self)
    }

    /// Takes no new pushes; closes when it owes no answer.
    ///
    /// - Parameter isOurs: whether nothing is wrong with it, so that the next one need not wait.
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

    /// Closes at once; what is in flight fails.
    func close(because reason: String) {
        guard phase != .closed else { return }
        if endReason == nil { endReason = reason }
        if let context { context.close(mode: .all, promise: nil) }
        // Not waiting for the peer's side of the farewell: its silence may be the reason.
        end()
    }

    /// The same without TLS's farewell: until the peer answers that, what it goes on sending would be read and decrypted.
    func cut(because reason: String) {
        guard phase != .closed else { return }
        if endReason == nil { endReason = reason }
        if let context {
            // From the handler of TLS on, which does not see it.
            let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self)
            (tls ?? context).close(mode: .all, promise: nil)
        }
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

    /// An answer's headers are about 200 bytes.
    static let maximumHeaderByteCount = 8_192
}
