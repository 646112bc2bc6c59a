internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import PushCore

/// Checks each request's head while it is as the caller sent it, since Hummingbird doesn't keep all of it. Implements what
/// the HTTP version requires and Hummingbird doesn't support: after a response to HTTP/1.0, the connection is closed, and a
/// client that expects `100-continue` is told to send the body. Source: RFC 9110, 10.1.1; RFC 9112, 9.3.
final class RequestHeads: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// Marks a request as one that a proxy would send; see ``isOfProxy(_:)``. A caller can't set or remove it.
    static let proxyMark = HTTPField.Name("Sealed-Push-Proxy")!

    private var isRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        guard Self.isUnambiguous(head) else {
            isRefused = true
            // Hummingbird answers 400 and closes the connection.
            return context.fireErrorCaught(HTTPParserError.invalidHeaderToken)
        }
        let isOld = head.version == .http1_0
        if isOld || !head.isKeepAlive { head.headers.replaceOrAdd(name: "connection", value: "close") }
        head.headers.remove(name: Self.proxyMark.rawName)
        if Self.isOfProxy(head) { head.headers.add(name: Self.proxyMark.rawName, value: "1") }
        context.fireChannelRead(wrapInboundOut(.head(head)))
        let expected = head.headers.first(name: "expect") ?? ""
        if !isOld, expected.utf8.count == 12, expected.lowercased() == "100-continue" {
            let answer = HTTPResponseHead(version: head.version, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(answer)), promise: nil)
        }
    }

    /// Whether every program reads the same body and host from this head. Otherwise, what one program takes for a body could
    /// be another's next request. Source: RFC 9112, 3.2, 6.1, and 6.3.
    static func isUnambiguous(_ head: HTTPRequestHead) -> Bool {
        guard head.headers["host"].count <= 1 else { return false }
        let codings = head.headers["transfer-encoding"]
        guard !codings.isEmpty else { return true }
        return codings.count == 1 && isChunked(codings[0])
            && head.version == .http1_1 && !head.headers.contains(name: "content-length")
    }

    /// Compares ASCII letters in any case.
    private static func isChunked(_ coding: String) -> Bool {
        coding.utf8.trimmingSpace.map { $0 | 0x20 } == Array("chunked".utf8)
    }

    /// Whether a client that connects to a socket wouldn't send this: an older version, or a whole URL as the target.
    private static func isOfProxy(_ head: HTTPRequestHead) -> Bool {
        head.version != .http1_1 || !(head.uri.hasPrefix("/") || head.uri == "*")
    }
}
