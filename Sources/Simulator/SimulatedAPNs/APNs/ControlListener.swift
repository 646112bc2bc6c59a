internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import PushCore

/// The control endpoint: HTTP/1.1 and JSON on a Unix socket in the server's folder, for the user who started it. What it can
/// do: ``ControlCommands``.
enum ControlListener {
    static let name = "control.sock"

    static func listen(
        _ folder: LocalAPNsFolder, core: LocalAPNsCore, _ group: any EventLoopGroup
    ) async throws(LocalAPNsError) -> any Channel {
        let commands = ControlCommands(core: core)
        let bootstrap = ServerBootstrap(group: group).childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
                try channel.pipeline.syncOperations.addHandler(ControlConnection(commands))
            }
        }
        let path = folder.path(name)
        let listener = try await DeviceSocket.bind(bootstrap, to: path)
        // Who can reach it can end the server: to connect is to write, unix(7).
        guard chmod(path, 0o600) == 0 else { throw .notBound("\(path): \(String(cString: strerror(errno)))") }
        return listener
    }
}

final class ControlConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let commands: ControlCommands
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()
    private static let maximumByteCount = 1 << 20

    init(_ commands: ControlCommands) { self.commands = commands }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body.clear()
        case .body(var bytes):
            guard body.readableBytes + bytes.readableBytes <= Self.maximumByteCount else {
                context.close(promise: nil)
                return
            }
            body.writeBuffer(&bytes)
        case .end:
            guard let head else { return }
            self.head = nil
            answer(head, context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let answer = commands.run(head.method.rawValue, path: head.uri, body: Data(body.readableBytesView))
        var headers = HTTPHeaders([("content-type", "application/json")])
        headers.add(name: "content-length", value: String(answer.body.count))
        if !head.isKeepAlive { headers.add(name: "connection", value: "close") }
        let status = HTTPResponseStatus(statusCode: answer.status)
        context.write(wrapOutboundOut(.head(.init(version: .http1_1, status: status, headers: headers))), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
        let end = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        if !head.isKeepAlive {
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            end.whenComplete { _ in bound.value.close(promise: nil) }
        }
    }
}

/// What the control endpoint can do. Bodies and answers are JSON.
///
/// | request | body | what it does |
/// |---|---|---|
/// | `GET /status` | | counts of connections, requests, refusals, deliveries, devices |
/// | `GET /faults` | | the faults in force, and the seed |
/// | `PUT /faults` | ``APNsFaults`` | replaces them; absent members are 0 |
/// | `GET /devices` | | the first 1,000 registrations |
/// | `POST /devices` | `{"name", "topic"}` | registers a device; returns its token |
/// | `PUT /tokens/TOKEN` | `{"state", "since"}` | `active`, `unregistered`, `expired`, `bad`; since: milliseconds, or now |
/// | `POST /goaway` | `{"reason"}` | GOAWAY on every connection; without a reason if there is none |
/// | `POST /shutdown` | | ends the server as Ctrl-C does |
struct ControlCommands: Sendable {
    let core: LocalAPNsCore

    func run(_ method: String, path: String, body: Data) -> ControlAnswer {
        switch (method, path) {
        case ("GET", "/status"): return .value(Status(requests: core.counts, devices: core.registry.counts))
        case ("GET", "/faults"): return .value(Faults(seed: core.configuration.seed, faults: core.faults))
        case ("PUT", "/faults"): return setFaults(body)
        case ("GET", "/devices"): return .value(core.registry.records(limit: 1_000))
        case ("POST", "/devices"): return decoded(body, register)
        case ("POST", "/goaway"): return decoded(body.isEmpty ? Data("{}".utf8) : body, goAway)
        case ("POST", "/shutdown"):
            kill(getpid(), SIGTERM)
            return ControlAnswer(200, ["shutdown": "begun"])
        case ("PUT", _) where path.hasPrefix("/tokens/"):
            return decoded(body) { (change: TokenChange) in setToken(String(path.dropFirst("/tokens/".count)), change) }
        default: return ControlAnswer(404, ["error": "there is no \(method) of this path"])
        }
    }

    private struct Status: Encodable {
        let requests: LocalAPNsCore.Counts
        let devices: DeviceCounts
    }

    private struct Faults: Encodable {
        let seed: UInt64
        let faults: APNsFaults
    }

    private struct Registration: Decodable {
        let name: String
        let topic: String
    }

    private struct TokenChange: Decodable {
        let state: DeviceRecord.State
        let since: Int64?
    }

    private struct GoAway: Decodable { let reason: String? }

    private func setFaults(_ body: Data) -> ControlAnswer {
        guard let faults = APNsFaults(parsing: body) else { return ControlAnswer(400, ["error": APNsFaults.rule]) }
        core.faults = faults
        return .value(Faults(seed: core.configuration.seed, faults: faults))
    }

    private func register(_ device: Registration) -> ControlAnswer {
        guard DeviceRecord.isName(device.name, topic: device.topic) else {
            return ControlAnswer(400, ["error": "a name has 1 to 255 bytes, a topic 1 to 155"])
        }
        return ControlAnswer(200, ["token": core.registry.register(name: device.name, bundleID: device.topic)])
    }

    private func setToken(_ token: String, _ change: TokenChange) -> ControlAnswer {
        guard core.registry.setState(change.state, token: token, since: change.since) else {
            return ControlAnswer(404, ["error": "no device has this token"])
        }
        return ControlAnswer(200, ["token": token, "state": change.state.rawValue])
    }

    private func goAway(_ command: GoAway) -> ControlAnswer {
        let reason = command.reason.flatMap { APNsReason(rawValue: $0) }
        guard command.reason == nil || reason != nil else { return ControlAnswer(400, ["error": "no such reason"]) }
        return .value(["connections": core.goAway(reason)])
    }

    private func decoded<Value: Decodable>(_ body: Data, _ run: (Value) -> ControlAnswer) -> ControlAnswer {
        guard let value = try? JSONDecoder().decode(Value.self, from: body) else {
            return ControlAnswer(400, ["error": "invalid request body"])
        }
        return run(value)
    }
}

/// What the control endpoint answers.
struct ControlAnswer {
    var status: Int
    var body: Data

    init(_ status: Int, _ members: [String: String]) {
        self.status = status
        body = Self.encode(members)
    }

    static func value(_ value: some Encodable) -> ControlAnswer {
        var answer = ControlAnswer(200, [:])
        answer.body = encode(value)
        return answer
    }

    private static func encode(_ value: some Encodable) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ((try? encoder.encode(value)) ?? Data("{}".utf8)) + Data("\n".utf8)
    }
}
