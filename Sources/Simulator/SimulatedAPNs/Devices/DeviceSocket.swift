internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import PushCore

/// A message between devices and a local APNs over a Unix socket: one JSON object per line.
///
/// A Unix socket replaces TLS: the folder's permissions decide who may be a device, and no data leaves the machine.
enum DeviceFrame: Codable, Equatable {
    /// Sent by a connection's devices, which are online from now on. Answered by `registered`.
    case register(topic: String, names: [String])
    /// The tokens, in the order of the names.
    case registered(tokens: [String])
    case notification(number: UInt64, token: String, notification: APNsNotification)
    /// Sent by a device: the notification was shown and must not be sent again. For a page, it includes the visible result.
    case acknowledge(number: UInt64, token: String, shown: ShownOnDevice?)

    /// The longest line, with room for the maximum number of devices with the longest names.
    static let maximumByteCount = 4 << 20

    var bytes: ByteBuffer {
        var buffer = ByteBuffer()
        guard let line = try? JSONEncoder().encode(self) else { return buffer }
        buffer.writeBytes(line)
        buffer.writeInteger(UInt8(ascii: "\n"))
        return buffer
    }

    enum Failure: Error { case malformed }

    /// Removes and returns the first frame, or returns nil if it isn't complete yet.
    static func read(from buffer: inout ByteBuffer) throws(Failure) -> DeviceFrame? {
        guard let end = buffer.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) else {
            guard buffer.readableBytes <= maximumByteCount else { throw .malformed }
            return nil
        }
        let length = end - buffer.readerIndex
        guard length <= maximumByteCount, let line = buffer.readSlice(length: length) else { throw .malformed }
        buffer.moveReaderIndex(forwardBy: 1)
        guard let frame = try? JSONDecoder().decode(Self.self, from: Data(line.readableBytesView)), frame.isInBounds
        else { throw .malformed }
        return frame
    }

    private var isInBounds: Bool {
        switch self {
        case .register(let topic, let names):
            (1...155).contains(topic.utf8.count) && names.count <= DeviceReceiver.maximumDeviceCount
                && names.allSatisfy { (1...255).contains($0.utf8.count) }
        case .registered(let tokens): tokens.count <= DeviceReceiver.maximumDeviceCount
        case .notification, .acknowledge: true
        }
    }
}

/// The Unix socket between devices and a local APNs.
enum DeviceSocket {
    static let name = "devices.sock"

    static func listen(
        _ path: String, core: LocalAPNsCore, _ group: any EventLoopGroup
    ) async throws(LocalAPNsError) -> any Channel {
        let bootstrap = ServerBootstrap(group: group).childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(DeviceConnection(channel, core))
            }
        }
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

    /// Shortens a socket's path, which may be at most 107 bytes long, by opening its folder and using the descriptor.
    static func withShortPath<Result>(_ path: String, _ body: (String) async throws -> Result) async throws
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

/// The link to the devices of one connection.
private final class ConnectedDevices: DeviceLink {
    private let channel: any Channel

    init(_ channel: any Channel) { self.channel = channel }

    func send(number: UInt64, token: String, _ notification: APNsNotification) {
        send(.notification(number: number, token: token, notification: notification))
    }

    func send(_ frame: DeviceFrame) { channel.writeAndFlush(frame.bytes, promise: nil) }
}

/// The server's side of one connection with devices.
private final class DeviceConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let link: ConnectedDevices
    private let core: LocalAPNsCore
    private var received = ByteBuffer()
    private var tokens: [String] = []

    init(_ channel: any Channel, _ core: LocalAPNsCore) {
        link = ConnectedDevices(channel)
        self.core = core
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        received.writeBuffer(&bytes)
        do {
            while let frame = try DeviceFrame.read(from: &received) { try handle(frame) }
            received.discardReadBytes()
        } catch { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        core.registry.disconnect(tokens, link: link)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func handle(_ frame: DeviceFrame) throws(DeviceFrame.Failure) {
        switch frame {
        case .register(let topic, let names):
            guard tokens.isEmpty else { throw .malformed }
            tokens = names.map { core.registry.register(name: $0, bundleID: topic) }
            // Send the tokens first, so that no notification arrives before its device knows its own token.
            link.send(.registered(tokens: tokens))
            core.registry.connect(tokens, link: link)
        case .acknowledge(let number, let token, let shown):
            guard let name = core.registry.acknowledge(number, token: token, link: link), let shown else { return }
            core.page?.showed(shown, on: name)
        case .registered, .notification: throw .malformed
        }
    }
}
