internal import NIOCore
internal import NIOSSL

/// TLS 1.2 or later, HTTP/2 by ALPN, the server's name and certificate checked.
struct TLSClient: Sendable {
    private let context: NIOSSLContext
    private let host: String

    init(endpoint: APNSEndpoint, roots: TrustRoots) throws(APNSConfigurationError) {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["h2"]
        configuration.trustRoots = roots.tlsRoots
        configuration.certificateVerification = .fullVerification
        // For the peer's side of the farewell, whatever it sends meanwhile: nothing that it could still say is of use.
        configuration.shutdownTimeout = .milliseconds(500)
        guard let context = try? NIOSSLContext(configuration: configuration) else { throw .tls }
        self.context = context
        host = endpoint.host
    }

    /// For one connection.
    func makeHandler() throws -> NIOSSLClientHandler {
        // RFC 6066, 3: an address is no server name; the certificate is then checked for the address.
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
    }
}
