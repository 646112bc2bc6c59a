internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import _PushBase

/// The control endpoint: HTTP/1.1 and JSON on a Unix socket in the server's folder, for the user who started it. What it can
/// do: ``ControlCommands``.
enum ControlListener {
    static let name = "control.sock"

    static func listen(
        _ folder: LocalAPNsFolder, core: LocalAPNsCore, _ group: any EventLoopGroup
    ) async throws(LocalAPNsError) -> any Channel {
        let commands = ControlCommands(core: core, folder: folder)
        let timeout = TimeAmount.milliseconds(core.configuration.controlTimeout.milliseconds)
        let bootstrap = ServerBootstrap(group: group).childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
                try channel.pipeline.syncOperations.addHandler(ControlConnection(commands, timeout: timeout))
            }
        }
        let path = folder.path(name)
        let listener = try await DeviceSocket.bind(bootstrap, to: path)
        // Who can reach it can end the server: to connect is to write, unix(7).
        guard chmod(path, 0o600) == 0 else { throw .notBound("\(path): \(String(cString: strerror(errno)))") }
        return listener
    }
}

final class ControlConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let commands: ControlCommands
    private let timeout: TimeAmount
    private var deadline: Scheduled<Void>?
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()
    private static let maximumByteCount = 1 << 20

    init(_ commands: ControlCommands, timeout: TimeAmount) {
        self.commands = commands
        self.timeout = timeout
    }

    func handlerAdded(context: ChannelHandlerContext) { waitForRequest(context) }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    /// For a whole one: a byte now and then does not keep a connection.
    private func waitForRequest(_ context: ChannelHandlerContext) {
        deadline?.cancel()
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        deadline = context.eventLoop.scheduleTask(in: timeout) { bound.value.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body.clear()
        case .body(var bytes):
            guard body.readableBytes + bytes.readableBytes <= Self.maximumByteCount else {
                context.close(promise: nil)
                return
            }
            body.writeBuffer(&bytes)
        case .end:
            guard let head else { return }
            self.head = nil
            answer(head, context)
            waitForRequest(context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let answer = commands.run(head.method.rawValue, path: head.uri, body: Data(body.readableBytesView))
        var headers = HTTPHeaders([("content-type", "application/json")])
        headers.add(name: "content-length", value: String(answer.body.count))
        if !head.isKeepAlive { headers.add(name: "connection", value: "close") }
        let status = HTTPResponseStatus(statusCode: answer.status)
        context.write(wrapOutboundOut(.head(.init(version: .http1_1, status: status, headers: headers))), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
        let end = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        if !head.isKeepAlive {
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            end.whenComplete { _ in bound.value.close(promise: nil) }
        }
    }
}
