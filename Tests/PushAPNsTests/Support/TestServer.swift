import Crypto
import Foundation
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import PushCore
import SwiftASN1
import X509

/// The behavior of a test's server. All closures are called on the server's event loop.
struct ServerBehavior: Sendable {
    let settings: HTTP2Settings
    let protocols: [String]
    /// After TLS: nil for HTTP/2, or other bytes to send instead.
    let insteadOfHTTP2: [UInt8]?
    var onConnect: @Sendable (ServerConnection) -> Void = { _ in }
    let onRequest: @Sendable (Exchange) -> Void
    /// A request's headers, before its body.
    var onHeaders: @Sendable (ServerConnection, HTTP2StreamID) -> Void = { _, _ in }

    init(
        streams: Int = 100, window: Int = 65_535, protocols: [String] = ["h2"], insteadOfHTTP2: [UInt8]? = nil,
        onRequest: @escaping @Sendable (Exchange) -> Void = { $0.accept() }
    ) {
        self.protocols = protocols
        self.insteadOfHTTP2 = insteadOfHTTP2
        settings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: streams),
            HTTP2Setting(parameter: .initialWindowSize, value: window),
        ]
        self.onRequest = onRequest
    }
}

/// A small HTTP/2 server over TLS, on localhost, with a given behavior.
final class TestServer: Sendable {
    let port: Int
    let seen = ServerRecord()
    private let channel: any Channel

    init(
        _ behavior: ServerBehavior = ServerBehavior(), certificate: TestCertificate = .shared, port: Int = 0
    ) async throws {
        let tls = try certificate.serverContext(protocols: behavior.protocols)
        let seen = seen
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: tls))
                    if let bytes = behavior.insteadOfHTTP2 {
                        try pipeline.addHandler(RawServer(bytes))
                        return
                    }
                    try pipeline.addHandler(NIOHTTP2Handler(mode: .server, initialSettings: behavior.settings))
                    try pipeline.addHandler(ServerConnection(behavior, seen, channel))
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        self.port = channel.localAddress?.port ?? 0
    }

    /// Accepts no more connections, and cuts the existing ones.
    func stop() async {
        try? await channel.close()
        seen.cutAll()
    }

    deinit {
        channel.close(promise: nil)
        seen.cutAll()
    }
}

/// The server's observations.
@dynamicMemberLookup final class ServerRecord: Sendable {
    struct Request: Sendable {
        let connection: Int
        let headers: HPACKHeaders
        let body: [UInt8]
        func header(_ name: String) -> String? { headers.first(name: name) }
        var push: Int { Int(header("apns-collapse-id")?.dropFirst("collapse-".count) ?? "") ?? 0 }
    }

    struct State {
        var connections: [any Channel] = []
        var lastConnection: ServerConnection?
        var requests: [Request] = []
        var requestCount = 0
        var resetCount = 0
        var pingCount = 0
        /// Requests in progress, now and at their peak.
        var open = 0
        var mostOpen = 0
        /// Requests that the behavior holds.
        var waiting: [Exchange] = []

        var connectionCount: Int { connections.count }
        var liveConnectionCount: Int { connections.filter { $0.isActive }.count }
    }

    private let state = Locked(State())

    subscript<Value: Sendable>(dynamicMember path: KeyPath<State, Value>) -> Value {
        state.withLock { $0[keyPath: path] }
    }

    func note<Value: Sendable>(_ change: @Sendable (inout State) -> Value) -> Value { state.withLock { change(&$0) } }

    func takeWaiting() -> [Exchange] {
        note { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    func forgetMostOpen() { note { $0.mostOpen = $0.open } }
    func cutAll() { for channel in self.connections { channel.close(promise: nil) } }
}

private final class RawServer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let bytes: [UInt8]
    init(_ bytes: [UInt8]) { self.bytes = bytes }
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// A temporary certificate authority, and a server certificate that it issued.
struct TestCertificate: Sendable {
    /// The trust roots for a client, as PEM.
    let rootPEM: [UInt8]
    private let chain: [NIOSSLCertificateSource]
    private let key: NIOSSLPrivateKeySource

    /// For `localhost`. Created once for all tests that don't need another.
    static let shared = TestCertificate()

    init(host: String = "localhost", validFrom: Date = .now - 3_600, validUntil: Date = .now + 3_600) {
        do {
            let rootKey = P256.Signing.PrivateKey()
            let rootName = try DistinguishedName { CommonName("Test Root") }
            let root = try Certificate(
                version: .v3, serialNumber: .init(), publicKey: .init(rootKey.publicKey),
                notValidBefore: .now - 86_400, notValidAfter: .now + 86_400, issuer: rootName, subject: rootName,
                signatureAlgorithm: .ecdsaWithSHA256,
                extensions: try Certificate.Extensions {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                }, issuerPrivateKey: .init(rootKey))
            let leafKey = P256.Signing.PrivateKey()
            let leaf = try Certificate(
                version: .v3, serialNumber: .init(), publicKey: .init(leafKey.publicKey), notValidBefore: validFrom,
                notValidAfter: validUntil, issuer: rootName, subject: try DistinguishedName { CommonName(host) },
                signatureAlgorithm: .ecdsaWithSHA256,
                extensions: try Certificate.Extensions { SubjectAlternativeNames([.dnsName(host)]) },
                issuerPrivateKey: .init(rootKey))
            rootPEM = Array(try root.serializeAsPEM().pemString.utf8)
            let leafPEM = Array(try leaf.serializeAsPEM().pemString.utf8)
            chain = [.certificate(try NIOSSLCertificate(bytes: leafPEM, format: .pem))]
            key = .privateKey(try NIOSSLPrivateKey(bytes: Array(leafKey.pemRepresentation.utf8), format: .pem))
        } catch {
            preconditionFailure("no certificate could be made: \(error)")
        }
    }

    func serverContext(protocols: [String]) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(certificateChain: chain, privateKey: key)
        configuration.applicationProtocols = protocols
        return try NIOSSLContext(configuration: configuration)
    }
}

/// A connection of a test's server. Confined to its channel's event loop, except for methods that hop to it.
final class ServerConnection: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    let number: Int
    let channel: any Channel
    let seen: ServerRecord
    private let behavior: ServerBehavior
    private var requests: [HTTP2StreamID: (headers: HPACKHeaders, body: [UInt8])] = [:]

    init(_ behavior: ServerBehavior, _ seen: ServerRecord, _ channel: any Channel) {
        self.behavior = behavior
        self.seen = seen
        self.channel = channel
        number = seen.note { state in
            state.connections.append(channel)
            return state.connections.count
        }
    }

    func channelActive(context: ChannelHandlerContext) {
        seen.note { $0.lastConnection = self }
        behavior.onConnect(self)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let content):
            seen.note { state in
                state.open += 1
                state.mostOpen = max(state.mostOpen, state.open)
            }
            requests[frame.streamID] = (content.headers, [])
            behavior.onHeaders(self, frame.streamID)
            if content.endStream { took(frame.streamID) }
        case .data(let content):
            if case .byteBuffer(let bytes) = content.data {
                requests[frame.streamID]?.body.append(contentsOf: bytes.readableBytesView)
                giveBack(bytes.readableBytes, to: frame.streamID, isLast: content.endStream)
            }
            if content.endStream { took(frame.streamID) }
        case .rstStream: seen.note { $0.resetCount += 1 }
        case .ping(_, ack: false): seen.note { $0.pingCount += 1 }
        default: break
        }
    }

    private func giveBack(_ byteCount: Int, to streamID: HTTP2StreamID, isLast: Bool) {
        guard byteCount > 0 else { return }
        send(.windowUpdate(windowSizeIncrement: byteCount))
        if !isLast { send(.windowUpdate(windowSizeIncrement: byteCount), on: streamID) }
    }

    private func took(_ streamID: HTTP2StreamID) {
        guard let request = requests.removeValue(forKey: streamID) else { return }
        let record = ServerRecord.Request(connection: number, headers: request.headers, body: request.body)
        // Once it's counted, it's also held. Responses are sent only after this turn of the event loop.
        let count = seen.note { state in
            state.requestCount += 1
            return state.requestCount
        }
        behavior.onRequest(Exchange(connection: self, streamID: streamID, request: record, number: count))
        seen.note { $0.requests.append(record) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is StreamClosedEvent { seen.note { $0.open -= 1 } }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is NIOSSLError { context.close(promise: nil) }
    }

    // MARK: What a test has it do, from any thread

    func send(_ payload: HTTP2Frame.FramePayload, on streamID: HTTP2StreamID = .rootStream) {
        channel.eventLoop.execute { [channel] in
            channel.writeAndFlush(HTTP2Frame(streamID: streamID, payload: payload), promise: nil)
        }
    }

    func allow(streams count: Int) {
        send(.settings(.settings([HTTP2Setting(parameter: .maxConcurrentStreams, value: count)])))
    }

    func goAway(last: HTTP2StreamID, reason: String?) {
        let data = reason.map { ByteBuffer(string: "{\"reason\":\"\($0)\"}") }
        send(.goAway(lastStreamID: last, errorCode: .noError, opaqueData: data))
    }

    /// Sends raw bytes, bypassing this server's HTTP/2.
    func sendRaw(_ bytes: [UInt8]) {
        channel.eventLoop.execute { [channel] in
            let context = try? channel.pipeline.syncOperations.context(handlerType: NIOHTTP2Handler.self)
            context?.writeAndFlush(NIOAny(ByteBuffer(bytes: bytes)), promise: nil)
        }
    }

    /// Stops reading, so that it answers nothing, not even a ping.
    func fallSilent() { channel.setOption(.autoRead, value: false).whenComplete { _ in } }

    /// After everything that it was told to send.
    func cut() { channel.eventLoop.execute { [channel] in channel.close(promise: nil) } }
}

/// A request that the server can answer from any thread.
struct Exchange: Sendable {
    let connection: ServerConnection
    let streamID: HTTP2StreamID
    let request: ServerRecord.Request
    /// The number among all the server's requests, starting with 1.
    let number: Int

    /// The number of the push, as passed to ``Rig/request(_:expiration:)``.
    var push: Int { request.push }

    func accept(uniqueID: String? = nil) {
        var headers: HPACKHeaders = [":status": "200", "apns-id": request.header("apns-id") ?? ""]
        if let uniqueID { headers.add(name: "apns-unique-id", value: uniqueID) }
        connection.send(.headers(.init(headers: headers, endStream: true)), on: streamID)
    }

    func refuse(_ status: Int, _ reason: String, timestamp: Int? = nil) {
        let time = timestamp.map { ",\"timestamp\":\($0)" } ?? ""
        answer(status, body: Array("{\"reason\":\"\(reason)\"\(time)}".utf8))
    }

    func answer(_ status: Int, body: [UInt8], ends: Bool = true) {
        connection.send(.headers(.init(headers: [":status": "\(status)"], endStream: false)), on: streamID)
        connection.send(.data(.init(data: .byteBuffer(ByteBuffer(bytes: body)), endStream: ends)), on: streamID)
    }

    func reset(_ code: HTTP2ErrorCode) { connection.send(.rstStream(code), on: streamID) }

    func putAside() { connection.seen.note { $0.waiting.append(self) } }
}
