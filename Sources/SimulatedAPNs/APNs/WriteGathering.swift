internal import NIOCore

/// Gathers the small writes of HTTP/2 frames until they are flushed, so that they share TLS records and copies.
final class WriteGathering: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = ByteBuffer

    private var gathered: ByteBuffer?
    private var promises: [EventLoopPromise<Void>] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .byteBuffer(var bytes) = unwrapOutboundIn(data) else {
            promise?.fail(ChannelError.inputClosed)
            return
        }
        if let promise { promises.append(promise) }
        if gathered == nil { gathered = context.channel.allocator.buffer(capacity: 16_384) }
        gathered?.writeBuffer(&bytes)
    }

    func flush(context: ChannelHandlerContext) {
        send(context)
        context.flush()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        send(context)
        context.close(mode: mode, promise: promise)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        for promise in promises { promise.fail(ChannelError.alreadyClosed) }
        promises = []
    }

    private func send(_ context: ChannelHandlerContext) {
        guard let bytes = gathered else { return }
        gathered = nil
        guard !promises.isEmpty else {
            context.write(wrapOutboundOut(bytes), promise: nil)
            return
        }
        let all = context.eventLoop.makePromise(of: Void.self)
        for promise in promises { all.futureResult.cascade(to: promise) }
        promises = []
        context.write(wrapOutboundOut(bytes), promise: all)
    }
}
