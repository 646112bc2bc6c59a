internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import _PushBase

/// The control endpoint: HTTP/1.1 and JSON on a port of its own of 127.0.0.1, for who has the token of `address.json`. What
/// it can do: ``ControlCommands``.
struct ControlListener {
    let commands: ControlCommands
    private let configuration: LocalAPNsConfiguration
    private let token: String

    init(core: LocalAPNsCore, folder: LocalAPNsFolder, token: String) {
        commands = ControlCommands(core: core, folder: folder)
        self.token = token
        configuration = core.configuration
    }

    func bind(_ group: any EventLoopGroup) async throws(LocalAPNsError) -> any Channel {
        let (commands, token) = (commands, token)
        let timeout = TimeAmount.milliseconds(configuration.controlTimeout.milliseconds)
        let limit = configuration.controlConnectionLimit
        let openCount = Locked(0)
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                let isTaken = openCount.withLock { count in
                    count += 1
                    return count <= limit
                }
                channel.closeFuture.whenComplete { _ in openCount.withLock { $0 -= 1 } }
                guard isTaken else { return channel.close() }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
                    try channel.pipeline.syncOperations.addHandler(ControlConnection(commands, token, timeout: timeout))
                }
            }
        do {
            // Who can reach it can end the server: it is for this machine, wherever providers come from.
            return try await bootstrap.bind(host: Self.host, port: configuration.controlPort).get()
        } catch {
            throw .notBound("\(error)")
        }
    }

    private static let host = "127.0.0.1"
}

final class ControlConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let commands: ControlCommands
    private let token: String
    private let timeout: TimeAmount
    private var deadline: Scheduled<Void>?
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()
    private static let maximumByteCount = 1 << 20

    init(_ commands: ControlCommands, _ token: String, timeout: TimeAmount) {
        self.commands = commands
        self.token = token
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
        let answer: ControlAnswer
        var headers = HTTPHeaders([("content-type", "application/json")])
        if isFromBrowser(head) {
            answer = ControlAnswer(403, ["error": "this is not for web pages"])
        } else if !ControlToken.isRight(head.headers.first(name: "authorization"), token) {
            headers.add(name: "www-authenticate", value: "Bearer")
            answer = ControlAnswer(
                401, ["error": "this takes the token of address.json: curl -H @FOLDER/control-header"])
        } else {
            answer = commands.run(
                head.method.rawValue, path: head.uri, body: Data(body.readableBytesView))
        }
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

    /// A page that was loaded from elsewhere could otherwise reach a loopback port, by its own name for it.
    private func isFromBrowser(_ head: HTTPRequestHead) -> Bool {
        if head.headers.contains(name: "origin") { return true }
        let host = head.headers.first(name: "host") ?? ""
        return !["localhost", "127.0.0.1", "[::1]"].contains { host == $0 || host.hasPrefix("\($0):") }
    }
}
