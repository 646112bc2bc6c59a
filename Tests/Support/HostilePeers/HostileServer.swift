internal import NIOCore
internal import NIOPosix
package import NIOSSL
internal import NIOTLS
internal import PushCore

/// An HTTP/2 server over TLS on localhost that attacks each client with one deed, or answers each push with 200.
///
/// It is cheap on purpose: it implements only the HTTP/2 that it needs, and sends prepared bytes.
package final class HostileServer: Sendable {
    /// Statistics of the server's connections.
    package struct Seen: Sendable {
        /// The number of complete requests.
        package var requestCount = 0
        /// The number of closed connections that were attacked.
        package var endCount = 0
        /// The number of bytes sent on those connections.
        package var byteCount = 0
    }

    package let port: Int
    private let channel: any Channel
    private let state: Locked<Seen>

    package var seen: Seen { state.withLock { $0 } }

    /// - Parameters:
    ///   - deed: The attack, or nil to answer each push with 200.
    ///   - tls: A context that offers `h2` (ALPN).
    package init(_ deed: HostileDeed?, tls: NIOSSLContext) async throws {
        let state = Locked(Seen())
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 512)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
                    try channel.pipeline.syncOperations.addHandler(HostileConnection(deed, state))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
        self.state = state
    }

    package func stop() async { try? await channel.close() }
}

private final class HostileConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let deed: HostileDeed?
    private let seen: Locked<HostileServer.Seen>
    private var buffer = ByteBuffer()
    private var hasPreface = false
    private var hasBegun = false
    private var byteCount = 0
    private var unacknowledgedByteCount = 0

    init(_ deed: HostileDeed?, _ seen: Locked<HostileServer.Seen>) {
        self.deed = deed
        self.seen = seen
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .handshakeCompleted? = event as? TLSUserEvent else { return }
        // Allow 1,000 streams.
        send(HostileDeed.frame(4, 0, 0, [0, 3, 0, 0, 3, 0xe8]), context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasBegun else { return }
        buffer.writeImmutableBuffer(unwrapInboundIn(data))
        if !hasPreface {
            guard buffer.readSlice(length: 24) != nil else { return }
            hasPreface = true
        }
        var answer = ByteBuffer()
        while let header = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self),
            buffer.readableBytes >= 9 + Int(header >> 8)
        {
            buffer.moveReaderIndex(forwardBy: 4)
            guard let flags = buffer.readInteger(as: UInt8.self), let stream = buffer.readInteger(as: UInt32.self)
            else { return }
            buffer.moveReaderIndex(forwardBy: Int(header >> 8))
            take(UInt8(truncatingIfNeeded: header), flags, stream, Int(header >> 8), &answer, context)
        }
        buffer.discardReadBytes()
        if answer.readableBytes > 0 { context.writeAndFlush(wrapOutboundOut(answer), promise: nil) }
    }

    private func take(
        _ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ length: Int, _ answer: inout ByteBuffer,
        _ context: ChannelHandlerContext
    ) {
        switch type {
        case 0, 1:
            if type == 0 { giveBack(length, &answer) }
            guard flags & 1 == 1 else { return }
            seen.withLock { $0.requestCount += 1 }
            guard let deed else {
                answer.writeBytes(HostileDeed.frame(1, 5, stream, HostileDeed.status200))
                return
            }
            if !deed.waitsForReset { begin(deed, on: stream, context) }
        case 3: if let deed, deed.waitsForReset { begin(deed, on: stream, context) }
        case 4 where flags & 1 == 0: answer.writeBytes(HostileDeed.frame(4, 1, 0, []))
        default: break
        }
    }

    /// Restores the client's connection window once half of it is used.
    private func giveBack(_ count: Int, _ answer: inout ByteBuffer) {
        unacknowledgedByteCount += count
        guard unacknowledgedByteCount > 32_000 else { return }
        let increment = UInt32(unacknowledgedByteCount)
        answer.writeBytes(HostileDeed.frame(8, 0, 0, withUnsafeBytes(of: increment.bigEndian, Array.init)))
        unacknowledgedByteCount = 0
    }

    // MARK: The deed

    private func begin(_ deed: HostileDeed, on stream: UInt32, _ context: ChannelHandlerContext) {
        guard !hasBegun else { return }
        hasBegun = true
        if deed == .silence { return context.channel.setOption(.autoRead, value: false).whenComplete { _ in } }
        let first = deed.beginning(on: stream)
        if !first.isEmpty { send(first, context) }
        let frame = deed.repeated(on: stream)
        guard !frame.isEmpty else { return }
        var block = ByteBuffer()
        while block.readableBytes < 16_384 { block.writeBytes(frame) }
        pour(block, NIOLoopBound(context, eventLoop: context.eventLoop))
    }

    /// Sends the block repeatedly, as fast as the client accepts it.
    private func pour(_ block: ByteBuffer, _ context: NIOLoopBound<ChannelHandlerContext>) {
        let eventLoop = context.value.eventLoop
        let own = NIOLoopBound(self, eventLoop: eventLoop)
        context.value.writeAndFlush(wrapOutboundOut(block)).whenSuccess {
            own.value.byteCount += block.readableBytes
            eventLoop.execute { own.value.pour(block, context) }
        }
    }

    private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        byteCount += hasBegun ? bytes.count : 0
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelInactive(context: ChannelHandlerContext) {
        guard hasBegun else { return }
        let byteCount = byteCount
        seen.withLock {
            $0.endCount += 1
            $0.byteCount += byteCount
        }
    }
}

/// A hostile server's response to a push. Each deed continues until the connection ends, unless it is a single frame.
package enum HostileDeed: String, CaseIterable, Sendable {
    /// Endless 1xx responses instead of a final one.
    case earlyHints = "early-hints"
    /// One SETTINGS frame with thousands of values.
    case manySettings = "many-settings"
    /// Endless SETTINGS, each with as many values as the client accepts.
    case settings
    /// A frame that violates the protocol, followed by endless PINGs.
    case afterViolation = "after-violation"
    /// A GOAWAY, followed by endless PINGs.
    case afterGoAway = "after-goaway"
    case goAways = "goaways"
    /// Endless HEADERS on a stream that the client has reset.
    case resetHeaders = "reset-headers"
    /// Endless DATA on a stream that the client has reset.
    case resetData = "reset-data"
    /// A response with an endless body. Its status counts.
    case endlessBody = "endless-body"
    case pings
    case continuations
    case windowUpdates = "window-updates"
    /// Frames of an unknown type and of the maximum length.
    case unknownFrames = "unknown-frames"
    /// Stops sending and reading.
    case silence
}

extension HostileDeed {
    /// Whether the deed begins only once the client has reset the stream.
    package var waitsForReset: Bool { self == .resetHeaders || self == .resetData }

    /// Returns the bytes to send once, at the beginning.
    func beginning(on stream: UInt32) -> [UInt8] {
        switch self {
        case .manySettings: Self.frame(4, 0, 0, Self.settings(count: 2_700))
        case .afterViolation: Self.frame(8, 0, 0, [0, 0, 0, 0])
        case .afterGoAway: Self.goAway(last: stream)
        case .endlessBody: Self.frame(1, 4, stream, Self.status200)
        case .continuations: Self.frame(1, 0, stream, Self.status200)
        default: []
        }
    }

    /// Returns the bytes to send repeatedly afterward; empty if there are none.
    func repeated(on stream: UInt32) -> [UInt8] {
        switch self {
        case .earlyHints, .resetHeaders: Self.frame(1, 4, stream, Self.status103)
        case .settings: Self.frame(4, 0, 0, Self.settings(count: 32))
        case .afterViolation, .afterGoAway, .pings: Self.frame(6, 0, 0, [0, 1, 2, 3, 4, 5, 6, 7])
        case .goAways: Self.goAway(last: stream)
        case .resetData, .endlessBody: Self.frame(0, 0, stream, Array(repeating: 0x78, count: 16_384))
        case .continuations: Self.frame(9, 0, stream, [0x0f, 0x0d, 1, 0x31])
        case .windowUpdates: Self.frame(8, 0, 0, [0, 0, 0, 1]) + Self.frame(8, 0, stream, [0, 0, 0, 1])
        case .unknownFrames: Self.frame(0x99, 0, 0, Array(repeating: 0, count: 16_384))
        case .manySettings, .silence: []
        }
    }

    static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
        let length = UInt32(payload.count)
        return bytes(length).dropFirst() + [type, flags] + bytes(stream) + payload
    }

    private static func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian, Array.init) }

    /// Alternates window and table sizes.
    private static func settings(count: Int) -> [UInt8] {
        (0..<count).flatMap { number in [0, number.isMultiple(of: 2) ? 4 : 1] + bytes(UInt32(1_000 + number % 7)) }
    }

    private static func goAway(last stream: UInt32) -> [UInt8] {
        frame(7, 0, 0, bytes(stream) + bytes(0) + Array(#"{"reason":"Shutdown"}"#.utf8))
    }

    /// `:status: 200`, from HPACK's static table.
    static let status200: [UInt8] = [0x88]
    /// `:status: 103` as a literal, because the static table lacks it.
    private static let status103: [UInt8] = [0x08, 3, 0x31, 0x30, 0x33]
}
