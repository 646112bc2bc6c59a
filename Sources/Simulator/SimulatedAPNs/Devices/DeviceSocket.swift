internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import PushCore

/// The Unix socket between devices and a local APNs.
enum DeviceSocket {
    static let name = "devices.sock"

    static func listen(
        _ path: String, registry: DeviceRegistry, _ group: any EventLoopGroup
    ) async throws(LocalAPNsError) -> any Channel {
        let bootstrap = ServerBootstrap(group: group).childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(
                    DeviceConnection(ConnectedDevices(channel), registry: registry))
            }
        }
        return try await bind(bootstrap, to: path)
    }

    static func bind(_ bootstrap: ServerBootstrap, to path: String) async throws(LocalAPNsError) -> any Channel {
        do {
            return try await withShortPath(path) { path in
                try await bootstrap.bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true).get()
            }
        } catch { throw .notBound("\(path): \(error)") }
    }

    static func connect(
        _ path: String, _ group: any EventLoopGroup,
        _ makeHandler: @escaping @Sendable (any Channel) -> any ChannelHandler & Sendable
    ) async throws -> any Channel {
        let bootstrap = ClientBootstrap(group: group).connectTimeout(.seconds(5)).channelInitializer { channel in
            channel.pipeline.addHandler(makeHandler(channel))
        }
        return try await withShortPath(path) { path in try await bootstrap.connect(unixDomainSocketPath: path).get() }
    }

    /// A socket's path has 107 bytes at most: a longer one is reached through an open descriptor of its folder.
    private static func withShortPath<Result>(_ path: String, _ body: (String) async throws -> Result) async throws
        -> Result
    {
        guard path.utf8.count > 100 else { return try await body(path) }
        let file = URL(filePath: path)
        let folder = open(file.deletingLastPathComponent().path(percentEncoded: false), O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return try await body(path) }
        defer { close(folder) }
        return try await body("/proc/self/fd/\(folder)/\(file.lastPathComponent)")
    }
}

/// The way to the devices behind one connection: what is sent within a moment is written together.
final class ConnectedDevices: DeviceLink {
    private let channel: any Channel
    private let outgoing = Locked(Outgoing())

    private struct Outgoing {
        var bytes = ByteBuffer()
        var isScheduled = false
    }

    init(_ channel: any Channel) { self.channel = channel }

    func send(number: UInt64, token: String, _ notification: APNsNotification) {
        send(.notification(number: number, token: token, notification: notification))
    }

    func send(_ frame: DeviceFrame) {
        let isFirst = outgoing.withLock { outgoing in
            frame.write(to: &outgoing.bytes)
            defer { outgoing.isScheduled = true }
            return !outgoing.isScheduled
        }
        if isFirst { channel.eventLoop.execute { self.drain() } }
    }

    private func drain() {
        let bytes = outgoing.withLock { outgoing in
            defer { outgoing = Outgoing() }
            return outgoing.bytes
        }
        channel.writeAndFlush(bytes, promise: nil)
    }
}

/// The server's end of one connection with devices.
final class DeviceConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let link: ConnectedDevices
    private let registry: DeviceRegistry
    private var received = ByteBuffer()
    private var tokens: Set<String> = []

    init(_ link: ConnectedDevices, registry: DeviceRegistry) {
        self.link = link
        self.registry = registry
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        received.writeBuffer(&bytes)
        do {
            while let frame = try DeviceFrame.read(from: &received) { try handle(frame) }
            received.discardReadBytes()
        } catch { context.close(promise: nil) }
    }

    func channelActive(context: ChannelHandlerContext) {
        if registry.configuration.watcher != nil { link.send(.watched) }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        registry.disconnect(Array(tokens), link: link)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func handle(_ frame: DeviceFrame) throws(DeviceFrame.Failure) {
        switch frame {
        case .register(let request, let name, let topic):
            link.send(.registered(request: request, token: registry.register(name: name, bundleID: topic)))
        case .online(let tokens):
            self.tokens.formUnion(tokens)
            let unknown = registry.connect(tokens, link: link)
            if !unknown.isEmpty { link.send(.unknown(tokens: unknown)) }
        case .acknowledge(let number, let token): registry.acknowledge(number, token: token, link: link)
        case .showed(let token, let shown):
            // Only of its own devices.
            guard tokens.contains(token) else { throw .malformed }
            registry.configuration.watcher?(.showed(device: registry.name(of: token) ?? token, shown))
        case .registered, .notification, .unknown, .watched: throw .malformed
        }
    }
}
