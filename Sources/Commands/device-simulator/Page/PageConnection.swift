internal import NIOCore
internal import NIOHTTP1
internal import PushCore

/// Who may have the page: a browser on this machine that was given its address, and no page of anybody else's.
struct PageAccess: Sendable {
    /// As a browser names this machine. A name that somebody else has pointed at it is another one.
    static let hosts = ["127.0.0.1", "[::1]", "localhost"]
    /// The first part of each path; nil at a socket.
    let secret: String?

    enum Decision: Equatable {
        case file(PageFile)
        case events
        case refused(HTTPResponseStatus)
    }

    func decide(_ head: HTTPRequestHead) -> Decision {
        let names = head.headers[canonicalForm: "host"]
        guard names.count == 1, Self.hosts.contains(where: { Self.name(names[0]) == $0 }) else {
            return .refused(.misdirectedRequest)
        }
        guard let path = path(head.uri) else { return .refused(.notFound) }
        // A link to the page may stand anywhere; what the page itself asks for comes from the page alone.
        let isOpened = path.isEmpty && head.headers["sec-fetch-dest"] == ["document"]
        let isOwn = head.headers["sec-fetch-site"].allSatisfy { $0 == "none" || $0 == "same-origin" }
        guard isOwn || isOpened else { return .refused(.forbidden) }
        guard head.method == .GET else { return .refused(.methodNotAllowed) }
        switch path {
        case "": return .file(.html)
        case "page.css": return .file(.style)
        case "page.js": return .file(.script)
        case "events": return .events
        default: return .refused(.notFound)
        }
    }

    /// Without the port: a tunnel has another.
    private static func name(_ host: Substring) -> Substring {
        guard let colon = host.lastIndex(of: ":"), host[host.index(after: colon)...].allSatisfy(\.isNumber) else {
            return host
        }
        return host[..<colon]
    }

    private func path(_ uri: String) -> Substring? {
        guard let secret else { return uri.first == "/" ? uri.dropFirst() : nil }
        let given = Array(uri.utf8.prefix(secret.utf8.count + 2))
        guard ConstantTime.areEqual(given, Array("/\(secret)/".utf8)) else { return nil }
        return uri.dropFirst(secret.count + 2)
    }
}

/// One request a connection at a time; the events' lasts as long as somebody looks.
final class PageConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let hub: PageHub
    private let access: PageAccess
    private var head: HTTPRequestHead?
    private var deadline: Scheduled<Void>?
    private var beat: RepeatedTask?

    /// Of nobody else's, and nothing that is not in these three files: the texts can't run, load or send anything.
    private static let rules: [(String, String)] = [
        (
            "content-security-policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
                + "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
        ),
        ("cache-control", "no-store"), ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"), ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"), ("x-frame-options", "DENY"),
    ]

    init(_ hub: PageHub, _ access: PageAccess) {
        self.hub = hub
        self.access = access
    }

    func handlerAdded(context: ChannelHandlerContext) { waitForRequest(context) }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
        beat?.cancel()
        hub.leave(context.channel)
    }

    /// For a whole one: a byte now and then does not keep a connection.
    private func waitForRequest(_ context: ChannelHandlerContext) {
        deadline?.cancel()
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        deadline = context.eventLoop.scheduleTask(in: .seconds(30)) { bound.value.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        // Nothing here takes a body.
        case .body: context.close(promise: nil)
        case .end:
            guard let head, beat == nil else { return context.close(promise: nil) }
            self.head = nil
            waitForRequest(context)
            switch access.decide(head) {
            case .events: sendEvents(context)
            case .file(let file): answer(.ok, file.type, file.text, head, context)
            case .refused(let status):
                answer(status, "text/plain; charset=utf-8", "\(status.reasonPhrase)\n", head, context)
            }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answer(
        _ status: HTTPResponseStatus, _ type: String, _ text: String, _ head: HTTPRequestHead,
        _ context: ChannelHandlerContext
    ) {
        var headers = HTTPHeaders(Self.rules)
        headers.add(name: "content-type", value: type)
        headers.add(name: "content-length", value: String(text.utf8.count))
        if status == .methodNotAllowed { headers.add(name: "allow", value: "GET") }
        if !head.isKeepAlive { headers.add(name: "connection", value: "close") }
        context.write(wrapOutboundOut(.head(.init(version: .http1_1, status: status, headers: headers))), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
        let end = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        guard !head.isKeepAlive else { return }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        end.whenComplete { _ in bound.value.close(promise: nil) }
    }

    private func sendEvents(_ context: ChannelHandlerContext) {
        deadline?.cancel()
        var headers = HTTPHeaders(Self.rules)
        headers.add(name: "content-type", value: "text/event-stream")
        context.writeAndFlush(
            wrapOutboundOut(.head(.init(version: .http1_1, status: .ok, headers: headers))), promise: nil)
        // A connection that is gone shows itself only where something is written.
        let channel = context.channel
        beat = context.eventLoop.scheduleRepeatedTask(initialDelay: .seconds(15), delay: .seconds(15)) { _ in
            PageHub.write(ByteBuffer(string: ":\n\n"), to: channel)
            channel.flush()
        }
        if !hub.join(channel) { context.close(promise: nil) }
    }
}
