internal import NIOCore
internal import NIOPosix

extension ServerPlace {
    /// Asks the service at this place for `/readyz`, and returns the response's status, or 0 if it isn't HTTP. Waits at most
    /// ten seconds to connect, and ten for the response.
    package func readiness() async throws -> Int {
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        let wrapped: @Sendable (any Channel) -> EventLoopFuture<NIOAsyncChannel<ByteBuffer, ByteBuffer>> = { channel in
            channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel(wrappingChannelSynchronously: channel) }
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
        return try await connection.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: "GET /readyz HTTP/1.0\r\nHost: localhost\r\n\r\n"))
            var answer = ""
            for try await part in inbound where answer.utf8.count < 12 { answer += String(buffer: part) }
            return answer.hasPrefix("HTTP/1.") ? Int(answer.dropFirst(9).prefix(3)) ?? 0 : 0
        }
    }
}
