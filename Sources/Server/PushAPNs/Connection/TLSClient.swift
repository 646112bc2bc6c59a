internal import NIOCore
internal import NIOSSL

/// TLS 1.2 or later with HTTP/2 by ALPN. The server's name and certificate are checked.
struct TLSClient: Sendable {
    private let context: NIOSSLContext
    private let host: String

    init(endpoint: APNsEndpoint, roots: TrustRoots) throws(APNsConfigurationError) {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["h2"]
        configuration.trustRoots = roots.tlsRoots
        configuration.certificateVerification = .fullVerification
        // How long to wait for the peer's closure alert, whatever arrives in the meantime. No more data is needed.
        configuration.shutdownTimeout = .milliseconds(500)
        guard let context = try? NIOSSLContext(configuration: configuration) else { throw .tls }
        self.context = context
        host = endpoint.host
    }

    func makeHandler() throws -> NIOSSLClientHandler {
        // RFC 6066, 3: an address isn't a server name. The certificate is checked for the address instead.
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
    }
}
