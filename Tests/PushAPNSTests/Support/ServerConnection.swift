import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOSSL

/// One connection of a test's server. Confined to its channel's event loop, but for what hops there by itself.
final class ServerConnection: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    let number: Int
    let channel: any Channel
    let seen: ServerRecord
    private let behavior: ServerBehavior
    private var requests: [HTTP2StreamID: (headers: HPACKHeaders, body: [UInt8])] = [:]

    init(_ behavior: ServerBehavior, _ seen: ServerRecord, _ channel: any Channel) {
        self.behavior = behavior
        self.seen = seen
        self.channel = channel
        number = seen.connected(channel)
    }

    func channelActive(context: ChannelHandlerContext) {
        seen.connected(self)
        behavior.onConnect(self)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let content):
            seen.opened()
            requests[frame.streamID] = (content.headers, [])
            behavior.onHeaders(self, frame.streamID)
            if content.endStream { took(frame.streamID) }
        case .data(let content):
            if case .byteBuffer(let bytes) = content.data {
                requests[frame.streamID]?.body.append(contentsOf: bytes.readableBytesView)
                giveBack(bytes.readableBytes, to: frame.streamID, isLast: content.endStream)
            }
            if content.endStream { took(frame.streamID) }
        case .rstStream: seen.wasReset()
        case .ping(_, ack: false):
            seen.pinged()
            behavior.onPing(self)
        default: break
        }
    }

    private func giveBack(_ byteCount: Int, to streamID: HTTP2StreamID, isLast: Bool) {
        guard byteCount > 0 else { return }
        send(.windowUpdate(windowSizeIncrement: byteCount))
        if !isLast { send(.windowUpdate(windowSizeIncrement: byteCount), on: streamID) }
    }

    private func took(_ streamID: HTTP2StreamID) {
        guard let request = requests.removeValue(forKey: streamID) else { return }
        let record = ServerRecord.Request(connection: number, headers: request.headers, body: request.body)
        // Whoever sees it counted finds it put aside, too; an answer goes out only after this turn of the event loop.
        behavior.onRequest(
            Exchange(connection: self, streamID: streamID, request: record, number: seen.nextRequestNumber()))
        seen.took(record)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is StreamClosedEvent { seen.closed() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is NIOSSLError { context.close(promise: nil) }
    }

    // MARK: What a test has it do, from any thread

    func send(_ payload: HTTP2Frame.FramePayload, on streamID: HTTP2StreamID = .rootStream) {
        channel.eventLoop.execute { [channel] in
            channel.writeAndFlush(HTTP2Frame(streamID: streamID, payload: payload), promise: nil)
        }
    }

    func allow(streams count: Int) {
        send(.settings(.settings([HTTP2Setting(parameter: .maxConcurrentStreams, value: count)])))
    }

    func goAway(last: HTTP2StreamID, reason: String?) {
        let data = reason.map { ByteBuffer(string: "{\"reason\":\"\($0)\"}") }
        send(.goAway(lastStreamID: last, errorCode: .noError, opaqueData: data))
    }

    /// Bytes as they are, past the HTTP/2 of this server.
    func sendRaw(_ bytes: [UInt8]) {
        channel.eventLoop.execute { [channel] in
            let context = try? channel.pipeline.syncOperations.context(handlerType: NIOHTTP2Handler.self)
            context?.writeAndFlush(NIOAny(ByteBuffer(bytes: bytes)), promise: nil)
        }
    }

    /// Reads nothing more, so it answers nothing, not even a ping.
    func fallSilent() { channel.setOption(.autoRead, value: false).whenComplete { _ in } }

    /// After what it was told to send.
    func cut() { channel.eventLoop.execute { [channel] in channel.close(promise: nil) } }
}

/// One request that a server may answer, from any thread.
struct Exchange: Sendable {
    let connection: ServerConnection
    let streamID: HTTP2StreamID
    let request: ServerRecord.Request
    /// Of all the server's requests: 1 is the first.
    let number: Int

    func accept(uniqueID: String? = nil) {
        var headers: HPACKHeaders = [":status": "200", "apns-id": request.header("apns-id") ?? ""]
        if let uniqueID { headers.add(name: "apns-unique-id", value: uniqueID) }
        connection.send(.headers(.init(headers: headers, endStream: true)), on: streamID)
    }

    func refuse(_ status: Int, _ reason: String, timestamp: Int? = nil) {
        let time = timestamp.map { ",\"timestamp\":\($0)" } ?? ""
        answer(status, body: Array("{\"reason\":\"\(reason)\"\(time)}".utf8))
    }

    func answer(_ status: Int, body: [UInt8], ends: Bool = true) {
        connection.send(.headers(.init(headers: [":status": "\(status)"], endStream: false)), on: streamID)
        connection.send(.data(.init(data: .byteBuffer(ByteBuffer(bytes: body)), endStream: ends)), on: streamID)
    }

    func reset(_ code: HTTP2ErrorCode) { connection.send(.rstStream(code), on: streamID) }

    func putAside() { connection.seen.putAside(self) }
}
