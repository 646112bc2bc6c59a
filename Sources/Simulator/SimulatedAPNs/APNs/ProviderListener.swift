internal import NIOCore
internal import NIOHTTP2
internal import NIOPosix
internal import NIOSSL
internal import NIOTLS
internal import SealedPush

/// Accepts connections from providers, with TLS 1.2 or later and only the `h2` protocol.
struct ProviderListener {
    let core: LocalAPNsCore
    let context: NIOSSLContext

    init(core: LocalAPNsCore, certificate: LocalCertificate) throws(LocalAPNsError) {
        self.core = core
        do {
            let chain = try NIOSSLCertificate.fromPEMBytes(Array(certificate.certificatePEM.utf8))
            let key = try NIOSSLPrivateKey(bytes: Array(certificate.keyPEM.utf8), format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["h2"]
            // Don't wait long for a peer that doesn't respond to the TLS shutdown.
            configuration.shutdownTimeout = .milliseconds(200)
            context = try NIOSSLContext(configuration: configuration)
        } catch {
            throw .certificate("\(error)")
        }
    }

    func bind(_ group: any EventLoopGroup) async throws(LocalAPNsError) -> any Channel {
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 512)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { [core, context] channel in
                guard let number = core.open(channel) else { return channel.close() }
                channel.closeFuture.whenComplete { _ in core.close(number) }
                return channel.eventLoop.makeCompletedFuture {
                    try Self.configure(channel, core: core, number: number, context: context)
                }
            }
        do {
            return try await bootstrap.bind(host: core.configuration.host, port: core.configuration.port).get()
        } catch {
            throw .notBound("\(error)")
        }
    }

    private static func configure(
        _ channel: any Channel, core: LocalAPNsCore, number: Int, context: NIOSSLContext
    ) throws {
        let deadline = channel.eventLoop.scheduleTask(in: TimeAmount(core.configuration.handshakeTimeout)) {
            core.note("handshake-timeout", connection: number)
            channel.close(promise: nil)
        }
        channel.closeFuture.whenComplete { _ in deadline.cancel() }
        let pipeline = channel.pipeline.syncOperations
        let watcher = ClosingOnError(core: core, number: number)
        try pipeline.addHandler(NIOSSLServerHandler(context: context))
        try pipeline.addHandler(
            ApplicationProtocolNegotiationHandler { result, channel in
                watcher.isEncrypted = true
                guard case .negotiated("h2") = result else {
                    core.note("wrong-alpn", connection: number)
                    return channel.close()
                }
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(http2(core.configuration))
                    // The handshake timeout covers the preface and the SETTINGS, too.
                    try pipeline.addHandler(ProviderConnection(core: core, number: number, opening: deadline))
                }
            })
        try pipeline.addHandler(watcher)
    }

    /// Returns the HTTP/2 handler. Its abuse limits are high, because resets and changed settings are this server's purpose.
    private static func http2(_ configuration: LocalAPNsConfiguration) -> NIOHTTP2Handler {
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = ProviderConnection.settings(configuration)
        connection.controlFrameRateLimit.maximumCount = 1_000_000
        connection.maximumRecentlyResetStreams = 4_096
        connection.maximumConnectionGlitches = 100_000
        var stream = NIOHTTP2Handler.StreamConfiguration()
        stream.streamResetFrameRateLimit.maximumCount = 1_000_000
        stream.streamErrorRateLimit.maximumCount = 1_000_000
        return NIOHTTP2Handler(mode: .server, connectionConfiguration: connection, streamConfiguration: stream)
    }
}

/// Closes the connection after an error in TLS or a later handler.
private final class ClosingOnError: ChannelInboundHandler {
    typealias InboundIn = Any

    private let core: LocalAPNsCore
    private let number: Int
    var isEncrypted = false
    private var hasFailed = false

    init(core: LocalAPNsCore, number: Int) {
        self.core = core
        self.number = number
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !hasFailed else { return }
        hasFailed = true
        core.note(
            isEncrypted ? "connection-error" : "handshake-failed", connection: number,
            ["error": .string(Self.word(for: error))])
        context.close(promise: nil)
    }

    /// Returns BoringSSL's name for the error, if it has one. `HTTP_REQUEST` and `WRONG_VERSION_NUMBER` mean plain text.
    private static func word(for error: any Error) -> String {
        let text = String(describing: error)
        let parts = text.split(separator: "OPENSSL_internal:", maxSplits: 1)
        guard parts.count == 2 else { return String(text.prefix { $0 != "(" }) }
        return String(parts[1].prefix { $0.isUppercase || $0.isNumber || $0 == "_" })
    }
}
