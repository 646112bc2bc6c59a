import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import PushCore

/// What a test's server does. Everything is called on the server's event loop.
struct ServerBehavior: Sendable {
    var settings: HTTP2Settings = [HTTP2Setting(parameter: .maxConcurrentStreams, value: 100)]
    var protocols = ["h2"]
    /// After TLS: nil speaks HTTP/2, anything else is sent instead of it.
    var insteadOfHTTP2: [UInt8]?
    var onConnect: @Sendable (ServerConnection) -> Void = { _ in }
    var onRequest: @Sendable (Exchange) -> Void = { $0.accept() }
    /// A request's headers, before its body.
    var onHeaders: @Sendable (ServerConnection, HTTP2StreamID) -> Void = { _, _ in }
    var onPing: @Sendable (ServerConnection) -> Void = { _ in }
}

/// A small HTTP/2 server over TLS, on localhost, that does as it is told.
final class TestServer: Sendable {
    let port: Int
    let seen = ServerRecord()
    private let channel: any Channel

    init(
        _ behavior: ServerBehavior = ServerBehavior(), certificate: TestCertificate = .shared, port: Int = 0
    ) async throws {
        let tls = try certificate.serverContext(protocols: behavior.protocols)
        let seen = seen
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: tls))
                    if let bytes = behavior.insteadOfHTTP2 {
                        try pipeline.addHandler(RawServer(bytes))
                        return
                    }
                    try pipeline.addHandler(NIOHTTP2Handler(mode: .server, initialSettings: behavior.settings))
                    try pipeline.addHandler(ServerConnection(behavior, seen, channel))
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        self.port = channel.localAddress?.port ?? 0
    }

    /// Takes no more connections, and cuts those it has.
    func stop() async {
        try? await channel.close()
        seen.cutAll()
    }
}

/// What a server saw.
final class ServerRecord: Sendable {
    struct Request: Sendable {
        let connection: Int
        let headers: HPACKHeaders
        let body: [UInt8]
        func header(_ name: String) -> String? { headers.first(name: name) }
    }

    private struct State {
        var connections: [any Channel] = []
        var last: ServerConnection?
        var requests: [Request] = []
        var requestCount = 0
        var resetCount = 0
        var pingCount = 0
        var open = 0
        var mostOpen = 0
        var waiting: [Exchange] = []
    }

    private let state = Locked(State())

    var connectionCount: Int { state.withLock { $0.connections.count } }
    var liveConnectionCount: Int { state.withLock { state in state.connections.filter { $0.isActive }.count } }
    var requests: [Request] { state.withLock { $0.requests } }
    var resetCount: Int { state.withLock { $0.resetCount } }
    var pingCount: Int { state.withLock { $0.pingCount } }
    /// Requests begun and not answered, at any one time.
    var mostOpen: Int { state.withLock { $0.mostOpen } }
    var open: Int { state.withLock { $0.open } }
    /// Requests that the behavior put aside.
    var waiting: [Exchange] { state.withLock { $0.waiting } }

    func connected(_ channel: any Channel) -> Int {
        state.withLock { state in
            state.connections.append(channel)
            return state.connections.count
        }
    }
    var lastConnection: ServerConnection? { state.withLock { $0.last } }
    func connected(_ connection: ServerConnection) { state.withLock { $0.last = connection } }
    func nextRequestNumber() -> Int {
        state.withLock { state in
            state.requestCount += 1
            return state.requestCount
        }
    }
    func took(_ request: Request) { state.withLock { $0.requests.append(request) } }
    func putAside(_ exchange: Exchange) { state.withLock { $0.waiting.append(exchange) } }
    func takeWaiting() -> [Exchange] {
        state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }
    func opened() {
        state.withLock { state in
            state.open += 1
            state.mostOpen = max(state.mostOpen, state.open)
        }
    }
    func closed() { state.withLock { $0.open -= 1 } }
    func forgetMostOpen() { state.withLock { $0.mostOpen = $0.open } }
    func wasReset() { state.withLock { $0.resetCount += 1 } }
    func pinged() { state.withLock { $0.pingCount += 1 } }
    func cutAll() { for channel in state.withLock({ $0.connections }) { channel.close(promise: nil) } }
}

private final class RawServer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let bytes: [UInt8]
    init(_ bytes: [UInt8]) { self.bytes = bytes }
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
