internal import NIOCore
internal import NIOHTTPTypes

/// Closes a connection that takes too long over a request or its answer, or says more than any request has. A byte now and
/// then keeps none.
///
/// Between two requests, and before the first, Hummingbird's own limit for idle ones holds.
final class ConnectionDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart

    private let time: TimeAmount
    private let maximumByteCount: Int
    private var reading: Scheduled<Void>?
    private var writing: Scheduled<Void>?
    private var byteCount = 0

    init(_ time: TimeAmount, maximumByteCount: Int) {
        self.time = time
        self.maximumByteCount = maximumByteCount
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        reading?.cancel()
        writing?.cancel()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            byteCount = 0
            reading?.cancel()
            reading = deadline(context)
        case .body(let bytes):
            byteCount += bytes.readableBytes
            guard byteCount <= maximumByteCount else { return context.close(promise: nil) }
        case .end:
            reading?.cancel()
            reading = nil
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head:
            writing?.cancel()
            writing = deadline(context)
            context.write(data, promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            let written = promise ?? context.eventLoop.makePromise()
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            written.futureResult.whenComplete { _ in
                bound.value.writing?.cancel()
                bound.value.writing = nil
            }
            context.write(data, promise: written)
        }
    }

    private func deadline(_ context: ChannelHandlerContext) -> Scheduled<Void> {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        return context.eventLoop.scheduleTask(in: time) { bound.value.close(promise: nil) }
    }
}
