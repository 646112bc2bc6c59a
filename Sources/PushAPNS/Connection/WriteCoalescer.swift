internal import NIOCore

/// Joins the many small writes between two flushes into one, so that they share TLS records and system calls.
final class WriteCoalescer: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var joined = ByteBuffer()

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var bytes = unwrapOutboundIn(data)
        joined.writeBuffer(&bytes)
        guard let promise else { return }
        pass(context: context, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        pass(context: context, promise: nil)
        context.flush()
        // Reuses the memory, unless TLS still holds it.
        joined.clear()
    }

    private func pass(context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
        guard joined.readableBytes > 0 || promise != nil else { return }
        context.write(wrapOutboundOut(joined), promise: promise)
        joined.moveReaderIndex(to: joined.writerIndex)
    }
}
