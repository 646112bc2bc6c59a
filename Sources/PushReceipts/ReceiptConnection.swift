internal import NIOCore
internal import NIOHTTP1
internal import PushSender

/// One connection: requests one after the other, each within a time and a size.
final class ReceiptConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let desk: ReceiptDesk
    private let time: TimeAmount
    private var deadline: Scheduled<Void>?
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(_ desk: ReceiptDesk, limits: ReceiptServerLimits) {
        self.desk = desk
        time = .nanoseconds(
            limits.requestTime.components.seconds * 1_000_000_000
                + limits.requestTime.components.attoseconds / 1_000_000_000)
    }

    func handlerAdded(context: ChannelHandlerContext) { waitForRequest(context) }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    /// For a whole one: a byte now and then does not keep a connection.
    private func waitForRequest(_ context: ChannelHandlerContext) {
        deadline?.cancel()
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        deadline = context.eventLoop.scheduleTask(in: time) { bound.value.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
            let length = head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
            if head.method != .POST {
                refuse(.methodNotAllowed, context)
            } else if length > ReceiptReceiver.maximumByteCount {
                refuse(.payloadTooLarge, context)
            } else if head.headers.contains(name: "expect") {
                refuse(.expectationFailed, context)
            }
        case .body(let bytes):
            guard head != nil else { return }
            guard body.count + bytes.readableBytes <= ReceiptReceiver.maximumByteCount else {
                refuse(.payloadTooLarge, context)
                return
            }
            body += bytes.readableBytesView
        case .end:
            guard let head else { return }
            self.head = nil
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            let eventLoop = context.eventLoop
            desk.take(body) { answer in
                eventLoop.execute {
                    let (connection, context) = bound.value
                    connection.answerFromDesk(answer, isKeptAlive: head.isKeepAlive, context)
                }
            }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answerFromDesk(_ answer: ReceiptDesk.Answer, isKeptAlive: Bool, _ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        switch answer {
        case .counted: respond(.noContent, isKeptAlive: isKeptAlive, context)
        case .refused(let error): respond(.badRequest, text: error.rawValue, isKeptAlive: isKeptAlive, context)
        case .tooMany: respond(.tooManyRequests, headers: [("retry-after", "86400")], isKeptAlive: isKeptAlive, context)
        case .unavailable:
            respond(.serviceUnavailable, headers: [("retry-after", "60")], isKeptAlive: isKeptAlive, context)
        }
    }

    /// Answers and closes: what follows is not read.
    private func refuse(_ status: HTTPResponseStatus, _ context: ChannelHandlerContext) {
        head = nil
        respond(
            status, headers: status == .methodNotAllowed ? [("allow", "POST")] : [], isKeptAlive: false, context)
    }

    private func respond(
        _ status: HTTPResponseStatus, headers: [(String, String)] = [], text: String = "", isKeptAlive: Bool,
        _ context: ChannelHandlerContext
    ) {
        var headers = HTTPHeaders(headers)
        let body = text.isEmpty ? "" : text + "\n"
        if status != .noContent { headers.add(name: "content-length", value: String(body.utf8.count)) }
        if !body.isEmpty { headers.add(name: "content-type", value: "text/plain") }
        if !isKeptAlive { headers.add(name: "connection", value: "close") }
        context.write(wrapOutboundOut(.head(.init(version: .http1_1, status: status, headers: headers))), promise: nil)
        if !body.isEmpty { context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: body)))), promise: nil) }
        let end = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        // Only an answer that has left gives new time: who reads none of them is let go.
        end.whenComplete { _ in
            let (connection, context) = bound.value
            if isKeptAlive { connection.waitForRequest(context) } else { context.close(promise: nil) }
        }
    }

    /// Answers that nobody reads must not pile up: until they are read, no further request is.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isWritable = context.channel.isWritable
        context.channel.setOption(.autoRead, value: isWritable).whenFailure { _ in }
        context.fireChannelWritabilityChanged()
    }
}
