import NIOCore
import NIOPosix
import NIOSSL
import PushCore
import Testing

@testable import SimulatedAPNs

/// A connection for raw bytes, with or without TLS.
final class RawConnection: Sendable {
    private let channel: any Channel
    private let state: Locked<State>

    struct State: Sendable {
        var received: [UInt8] = []
        var isClosed = false
    }

    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// - Parameter root: The certificate to trust; nil for plain text.
    convenience init(port: Int, root: String? = nil) async throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.applicationProtocols = ["h2"]
        tls.shutdownTimeout = .milliseconds(200)
        if let root { tls.trustRoots = .file(root) }
        let context = root == nil ? nil : try NIOSSLContext(configuration: tls)
        try await self.init(over: context) { try await $0.connect(host: "127.0.0.1", port: port).get() }
    }

    convenience init(socket: String) async throws {
        try await self.init { try await $0.connect(unixDomainSocketPath: socket).get() }
    }

    private init(
        over context: NIOSSLContext? = nil, _ connect: (ClientBootstrap) async throws -> any Channel
    ) async throws {
        let state = Locked(State())
        self.state = state
        let bootstrap = ClientBootstrap(group: WireClient.group).connectTimeout(.seconds(600)).channelInitializer {
            channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                if let context {
                    try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: "localhost"))
                }
                try pipeline.addHandler(RawRecorder(state))
            }
        }
        channel = try await connect(bootstrap)
    }

    /// Registers devices as their apps do. Returns their tokens.
    func register(_ names: String...) async throws -> [String]? {
        send(Array(DeviceFrame.register(topic: APNsFixture.topic, names: names).bytes.readableBytesView))
        #expect(await wait { $0.text.contains("\n") || $0.isClosed })
        var received = ByteBuffer(string: text)
        guard case .registered(let tokens)? = try DeviceFrame.read(from: &received) else { return nil }
        return tokens
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }
    var text: String { state.withLock { String(decoding: $0.received, as: UTF8.self) } }

    func send(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

    /// Waits for up to five minutes. Returns whether `condition` became true.
    func wait(until condition: (RawConnection) -> Bool) async -> Bool {
        let deadline = ContinuousClock.now + .seconds(300)
        while !condition(self), ContinuousClock.now < deadline { try? await Task.sleep(for: .milliseconds(5)) }
        return condition(self)
    }

    func close() async { try? await channel.close() }
}

private final class RawRecorder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let state: Locked<RawConnection.State>

    init(_ state: Locked<RawConnection.State>) { self.state = state }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        state.withLock { $0.received += bytes.readableBytesView }
    }

    func channelInactive(context: ChannelHandlerContext) { state.withLock { $0.isClosed = true } }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
