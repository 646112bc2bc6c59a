internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import PushCore

/// Answers HTTP/1.1 requests, one on each connection: those of the control endpoint, and those of the page.
final class HTTPConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart
    typealias Answering = @Sendable (HTTPRequestHead, Data) -> HTTPAnswer

    private let answering: Answering
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()
    private static let maximumByteCount = 1 << 20
    /// A connection that is silent for longer is closed.
    private static let patience = TimeAmount.seconds(30)

    static func bootstrap(_ group: any EventLoopGroup, _ answering: @escaping Answering) -> ServerBootstrap {
        ServerBootstrap(group: group).childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(IdleStateHandler(allTimeout: patience))
                try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
                try pipeline.addHandler(HTTPConnection(answering))
            }
        }
    }

    private init(_ answering: @escaping Answering) { self.answering = answering }

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
            write(answering(head, Data(body.readableBytesView)), context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is IdleStateHandler.IdleStateEvent else { return context.fireUserInboundEventTriggered(event) }
        context.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func write(_ answer: HTTPAnswer, _ context: ChannelHandlerContext) {
        var headers = HTTPHeaders([("content-length", "\(answer.body.count)"), ("connection", "close")])
        headers.add(contentsOf: answer.headers)
        let head = HTTPResponseHead(version: .http1_1, status: answer.status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in bound.value.close(promise: nil) }
    }
}

struct HTTPAnswer {
    var status = HTTPResponseStatus.ok
    var headers: HTTPHeaders = [:]
    var body: Data

    static func json(_ value: some Encodable, _ status: HTTPResponseStatus = .ok) -> HTTPAnswer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = ((try? encoder.encode(value)) ?? Data("{}".utf8)) + Data("\n".utf8)
        return HTTPAnswer(status: status, headers: ["content-type": "application/json"], body: body)
    }
}

/// The control endpoint: JSON on a Unix socket in the server's folder, for the user who started it.
///
/// | request | body | what it does |
/// |---|---|---|
/// | `GET /status` | | counts connections, requests, refusals, deliveries, devices |
/// | `PUT /faults` | ``APNsFaults`` | replaces the faults; absent members are 0 |
extension LocalAPNsCore {
    static let controlSocketName = "control.sock"

    func listenForControl(
        _ folder: LocalAPNsFolder, _ group: any EventLoopGroup
    ) async throws(LocalAPNsError) -> any Channel {
        let path = folder.path(Self.controlSocketName)
        let listener = try await DeviceSocket.bind(HTTPConnection.bootstrap(group, control), to: path)
        // Who can reach it can change how the server behaves: to connect is to write, unix(7).
        guard chmod(path, 0o600) == 0 else { throw .notBound("\(path): \(String(cString: strerror(errno)))") }
        return listener
    }

    private struct Status: Encodable {
        let requests: Counts
        let devices: DeviceCounts
    }

    @Sendable private func control(_ head: HTTPRequestHead, _ body: Data) -> HTTPAnswer {
        switch (head.method, head.uri) {
        case (.GET, "/status"): return .json(Status(requests: counts, devices: registry.counts))
        case (.PUT, "/faults"):
            guard let faults = APNsFaults(parsing: body) else { return .json(["error": APNsFaults.rule], .badRequest) }
            self.faults = faults
            return .json(faults)
        default: return .json(["error": "there is no \(head.method) of this path"], .notFound)
        }
    }
}
