internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import PushCore

extension ServerPlace {
    /// Asks the service at this place for `/readyz`, with TLS if it doesn't speak plain HTTP, and returns the response's
    /// status, or 0 if it isn't HTTP. Waits at most ten seconds each time to connect, and ten for the response.
    package func readiness() async throws -> Int {
        if let status = try await answer(nil) { return status }
        guard case .address = self else { return 0 }
        // The name in the certificate isn't known here, and a forged answer would do no harm.
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        let context = try NIOSSLContext(configuration: configuration)
        return (try? await answer(context)) ?? 0
    }

    /// Returns the status, or `nil` if there is no answer in HTTP.
    private func answer(_ tls: NIOSSLContext?) async throws -> Int? {
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        let wrapped: @Sendable (any Channel) -> EventLoopFuture<NIOAsyncChannel<ByteBuffer, ByteBuffer>> = { channel in
            channel.eventLoop.makeCompletedFuture {
                if let tls {
                    let handler = try NIOSSLClientHandler(context: tls, serverHostname: nil)
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
                return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
            }
        }
        let connection =
            switch self {
            case .socket(let path):
                try await bootstrap.connect(unixDomainSocketPath: path, channelInitializer: wrapped)
            case .address(let host, let port):
                try await bootstrap.connect(host: host, port: port, channelInitializer: wrapped)
            }
        let channel = connection.channel
        channel.eventLoop.scheduleTask(in: .seconds(10)) { channel.close(promise: nil) }
        let answer = Locked("")
        // A TLS server may reset a connection with plain HTTP.
        try? await connection.executeThenClose { inbound, outbound in
            try await outbound.write(
                ByteBuffer(string: "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
            for try await part in inbound where answer.withLock({ $0.utf8.count < 12 }) {
                answer.withLock { $0 += String(buffer: part) }
            }
        }
        let text = answer.withLock { $0 }
        return text.hasPrefix("HTTP/1.") ? Int(text.dropFirst(9).prefix(3)) : nil
    }
}
