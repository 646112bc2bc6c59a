import NIOCore
import NIOPosix
import NIOSSL
import PushCore

@testable import SimulatedAPNs

/// A connection for bytes as they are, over TLS or not.
final class RawClient: Sendable {
    private let channel: any Channel
    private let state: Locked<State>

    struct State: Sendable {
        var received: [UInt8] = []
        var isClosed = false
    }

    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    static let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]

    /// - Parameter root: the certificate to trust; nil is plain text.
    init(host: String = "127.0.0.1", port: Int, root: String? = nil, protocols: [String] = ["h2"]) async throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.applicationProtocols = protocols
        tls.shutdownTimeout = .milliseconds(200)
        if let root { tls.trustRoots = .file(root) }
        let context = root == nil ? nil : try NIOSSLContext(configuration: tls)
        let state = Locked(State())
        self.state = state
        channel = try await ClientBootstrap(group: WireClient.group).connectTimeout(.seconds(60)).channelInitializer {
            channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                if let context {
                    try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: "localhost"))
                }
                try pipeline.addHandler(RawRecorder(state))
            }
        }.connect(host: host, port: port).get()
    }

    /// To a Unix socket.
    init(socket: String) async throws {
        let state = Locked(State())
        self.state = state
        channel = try await ClientBootstrap(group: WireClient.group).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(RawRecorder(state)) }
        }.connect(unixDomainSocketPath: socket).get()
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }
    var text: String { state.withLock { String(decoding: $0.received, as: UTF8.self) } }

    /// Takes nothing more from the server, not even its farewell.
    func stopReading() async throws { try await channel.setOption(.autoRead, value: false).get() }

    func send(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

    /// Whether `condition` holds before five minutes are over.
    func wait(until condition: (RawClient) -> Bool) async -> Bool {
        let deadline = ContinuousClock.now + .seconds(300)
        while !condition(self), ContinuousClock.now < deadline { try? await Task.sleep(for: .milliseconds(5)) }
        return condition(self)
    }

    func close() async { try? await channel.close() }
}

private final class RawRecorder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let state: Locked<RawClient.State>

    init(_ state: Locked<RawClient.State>) { self.state = state }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        state.withLock { $0.received += bytes.readableBytesView }
    }

    func channelInactive(context: ChannelHandlerContext) { state.withLock { $0.isClosed = true } }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
