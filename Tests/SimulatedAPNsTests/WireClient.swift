import Foundation
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import PushCore

@testable import PushSimulator
@testable import SimulatedAPNs

/// A provider that records every frame: the server's stream limits, answers, resets, and endings.
final class WireClient: Sendable {
    struct Seen: Sendable {
        var streamLimits: [Int] = []
        var status: [HTTP2StreamID: Int] = [:]
        var bodies: [HTTP2StreamID: String] = [:]
        var ids: [HTTP2StreamID: String] = [:]
        var uniqueIDs: [HTTP2StreamID: String] = [:]
        var ended: Set<HTTP2StreamID> = []
        var reset: Set<HTTP2StreamID> = []
        /// The debug data of GOAWAY; empty if there was none.
        var goAway: String?
        var isClosed = false
    }

    private let channel: any Channel
    private let state: Locked<Seen>
    private let next = Locked(HTTP2StreamID(1))

    static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// - Parameter name: The name that the server's certificate must have.
    init(_ address: LocalAPNsAddress, name: String = "localhost", trusting root: String? = nil) async throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(root ?? address.root)
        tls.applicationProtocols = ["h2"]
        let context = try NIOSSLContext(configuration: tls)
        let state = Locked(Seen())
        self.state = state
        channel = try await ClientBootstrap(group: Self.group).connectTimeout(.seconds(600)).channelInitializer {
            channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: name))
                try pipeline.addHandler(NIOHTTP2Handler(mode: .client))
                try pipeline.addHandler(WireRecorder(state))
            }
        }.connect(host: address.host, port: address.port).get()
    }

    var seen: Seen { state.withLock { $0 } }

    /// Sends a request. If `body` is nil, leaves it incomplete.
    @discardableResult func send(_ headers: [(String, String)], body: String?) -> HTTP2StreamID {
        let stream = next.withLock { next in
            defer { next = HTTP2StreamID(Int(next) + 2) }
            return next
        }
        let block = HPACKHeaders(headers)
        channel.write(HTTP2Frame(streamID: stream, payload: .headers(.init(headers: block))), promise: nil)
        if let body {
            let data = HTTP2Frame.FramePayload.Data(data: .byteBuffer(ByteBuffer(string: body)), endStream: true)
            channel.write(HTTP2Frame(streamID: stream, payload: .data(data)), promise: nil)
        }
        channel.flush()
        return stream
    }

    /// Waits until `condition` is true or the time is over. Returns what was seen by then.
    @discardableResult func wait(seconds: Double = 300, until condition: (Seen) -> Bool) async -> Seen {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while !condition(seen), ContinuousClock.now < deadline { try? await Task.sleep(for: .milliseconds(5)) }
        return seen
    }

    /// Sends a part of a body.
    func send(_ part: String, on stream: HTTP2StreamID, isLast: Bool = false) {
        let data = HTTP2Frame.FramePayload.Data(data: .byteBuffer(ByteBuffer(string: part)), endStream: isLast)
        send(.data(data), on: stream)
    }

    func reset(_ stream: HTTP2StreamID) { send(.rstStream(.cancel), on: stream) }

    func goAway() { send(.goAway(lastStreamID: .rootStream, errorCode: .noError, opaqueData: nil), on: .rootStream) }

    private func send(_ payload: HTTP2Frame.FramePayload, on stream: HTTP2StreamID) {
        channel.writeAndFlush(HTTP2Frame(streamID: stream, payload: payload), promise: nil)
    }

    func close() async { try? await channel.close() }
}

private final class WireRecorder: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    private let state: Locked<WireClient.Seen>

    init(_ state: Locked<WireClient.Seen>) { self.state = state }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        let stream = frame.streamID
        state.withLock { seen in
            switch frame.payload {
            case .settings(.settings(let settings)):
                seen.streamLimits += settings.filter { $0.parameter == .maxConcurrentStreams }.map(\.value)
            case .headers(let headers):
                seen.status[stream] = headers.headers.first(name: ":status").flatMap { Int($0) }
                seen.ids[stream] = headers.headers.first(name: "apns-id")
                seen.uniqueIDs[stream] = headers.headers.first(name: "apns-unique-id")
                if headers.endStream { seen.ended.insert(stream) }
            case .data(let data):
                if case .byteBuffer(let bytes) = data.data { seen.bodies[stream, default: ""] += String(buffer: bytes) }
                if data.endStream { seen.ended.insert(stream) }
            case .rstStream: seen.reset.insert(stream)
            case .goAway(_, _, let debug): seen.goAway = debug.map { String(buffer: $0) } ?? ""
            default: break
            }
        }
    }

    func channelInactive(context: ChannelHandlerContext) { state.withLock { $0.isClosed = true } }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !(error is NIOHTTP2Errors.StreamError) { context.close(promise: nil) }
    }
}
