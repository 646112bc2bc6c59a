internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
package import PushOutbox
package import PushSender
internal import SealedPush
internal import _PushBase

/// A small HTTP/1.1 server that takes receipts and counts them in an outbox: for rehearsals, and for small installations
/// behind a proxy that ends TLS.
///
/// A request is a POST of 128 bytes, to any path: 204 counted, or counted before; 400 not believed, with the code; 429 more
/// than ``ReceiptDevice/maximumPerDay`` of a device; 503 the outbox can't be written, try later. It keeps neither addresses
/// nor bodies. Source: Specification 16.6.
package final class ReceiptServer: Sendable {
    /// Where it listens, as it was bound.
    package let port: Int
    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel
    private let desk: ReceiptDesk

    private init(port: Int, group: MultiThreadedEventLoopGroup, channel: any Channel, desk: ReceiptDesk) {
        self.port = port
        self.group = group
        self.channel = channel
        self.desk = desk
    }

    /// - Parameters:
    ///   - host: the address to listen at; this machine alone, unless a proxy is elsewhere.
    ///   - port: 0 for any that is free.
    /// - Throws: ``ReceiptServerError``.
    package static func start(
        host: String = "127.0.0.1", port: Int, receiver: ReceiptReceiver, outbox: Outbox,
        limits: ReceiptServerLimits = ReceiptServerLimits()
    ) async throws(ReceiptServerError) -> ReceiptServer {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let desk = ReceiptDesk(receiver: receiver, outbox: outbox)
        let openCount = Locked(0)
        let mostConnections = min(limits.connectionCount, max(1, Descriptors.limit - spareDescriptors))
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                let isTaken = openCount.withLock { count in
                    count += 1
                    return count <= mostConnections
                }
                channel.closeFuture.whenComplete { _ in openCount.withLock { $0 -= 1 } }
                guard isTaken else { return channel.close() }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
                    try channel.pipeline.syncOperations.addHandler(ReceiptConnection(desk, limits: limits))
                }
            }
        do {
            let channel = try await bootstrap.bind(host: host, port: port).get()
            guard let port = channel.localAddress?.port else { throw ReceiptServerError.notBound("it has no port") }
            return ReceiptServer(port: port, group: group, channel: channel, desk: desk)
        } catch {
            try? await group.shutdownGracefully()
            throw .notBound((error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)")
        }
    }

    /// For the outbox, its log, and the runtime. Where none was left, `accept` would fail again and again.
    private static let spareDescriptors = 64

    /// Takes receipts of other senders from now on; what came before is counted all the same. Any thread.
    package func use(_ receiver: ReceiptReceiver) { desk.use(receiver) }

    /// Takes no more, lets what was taken be counted, and closes. A request that is cut off comes again from its device.
    package func stop() async {
        try? await channel.close()
        await desk.waitUntilCounted()
        try? await group.shutdownGracefully()
    }
}

/// What a ``ReceiptServer`` lets others have of it.
package struct ReceiptServerLimits: Sendable {
    /// Connections at once; further ones are closed. Fewer, where the process may open only few files.
    package var connectionCount = 1_024
    /// For a whole request, and between two.
    package var requestTime = Duration.seconds(10)

    package init() {}
}

package enum ReceiptServerError: Error, Equatable, CustomStringConvertible {
    /// The system does not let it listen there; its words.
    case notBound(String)

    package var description: String {
        switch self {
        case .notBound(let words): "can't listen there: \(words)"
        }
    }
}
