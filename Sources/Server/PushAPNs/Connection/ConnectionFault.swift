internal import NIOCore
internal import NIOExtras
internal import NIOPosix
internal import NIOSSL

/// Short descriptions of network and TLS errors.
enum ConnectionFault {
    static func text(_ error: any Error, at endpoint: APNsEndpoint) -> String {
        switch error {
        case let error as NIOConnectionError: connection(error, at: endpoint)
        case ChannelError.connectTimeout: "the TCP connection timed out"
        case ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed: "closed"
        case let error as IOError: "\(endpoint): \(String(cString: strerror(error.errnoCode)))"
        case NIOSSLError.uncleanShutdown: "closed without a TLS closure alert"
        case let error as NIOSSLError: tls(error)
        case let error as NIOHTTP1ProxyConnectHandler.Error where error == .proxyAuthenticationRequired():
            "the proxy \(endpoint) requires a password, which isn't supported"
        case is NIOHTTP1ProxyConnectHandler.Error:
            "the proxy \(endpoint) doesn't open a connection to this server"
        case is NIOSSLExtraError: "the server's certificate is for another name"
        default: name(error)
        }
    }

    private static func connection(_ error: NIOConnectionError, at endpoint: APNsEndpoint) -> String {
        if let first = error.connectionErrors.first { return text(first.error, at: endpoint) }
        if error.dnsAError != nil || error.dnsAAAAError != nil { return "the host name \(endpoint.host) was not found" }
        return "no address found for \(endpoint.host)"
    }

    private static func tls(_ error: NIOSSLError) -> String {
        let words = String(describing: error)
        if words.contains("CERTIFICATE_VERIFY_FAILED") {
            return "the server's certificate is not trusted or has expired"
        }
        if words.contains("NO_APPLICATION_PROTOCOL") { return "the server does not offer HTTP/2 (ALPN h2)" }
        // "error:1000009e:SSL routines:OPENSSL_internal:REASON at ..."
        let parts = words.split(separator: ":")
        if let index = parts.firstIndex(of: "OPENSSL_internal"), index + 1 < parts.count {
            return "TLS: " + parts[index + 1].prefix { $0.isUppercase || $0.isNumber || $0 == "_" }
        }
        return "TLS: " + name(error)
    }

    /// The error's type name, without its contents, which may come from the peer.
    private static func name(_ error: any Error) -> String { String(describing: type(of: error)) }
}
