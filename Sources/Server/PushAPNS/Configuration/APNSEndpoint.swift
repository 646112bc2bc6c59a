internal import NIOSSL

/// Where APNs listens: HTTP/2 over TLS 1.2 or later.
///
/// Source: Apple, "Sending notification requests to APNs".
public struct APNSEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// A name or an IP address. The certificate must be for it.
    public let host: String
    /// 1 to 65,535.
    public let port: Int

    /// Any other server, such as a local APNs.
    public init(host: String, port: Int) {
        precondition((1...65_535).contains(port), "a port is 1 to 65,535")
        self.host = host
        self.port = port
    }

    /// What apps from the App Store and TestFlight get their pushes through.
    public static let production = APNSEndpoint(host: "api.push.apple.com", port: 443)
    /// What apps that were started from Xcode get their pushes through.
    public static let sandbox = APNSEndpoint(host: "api.sandbox.push.apple.com", port: 443)

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// Which certificate authorities may vouch for the server.
public struct TrustRoots: Sendable {
    let tlsRoots: NIOSSLTrustRoots

    /// The system's.
    public static let system = TrustRoots(tlsRoots: .default)

    /// Only the certificates in `pem`: one or more, as text between BEGIN and END lines.
    public init(pem: [UInt8]) throws(APNSConfigurationError) {
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(pem), !certificates.isEmpty else {
            throw .malformedTrustRoots
        }
        tlsRoots = .certificates(certificates)
    }

    private init(tlsRoots: NIOSSLTrustRoots) { self.tlsRoots = tlsRoots }
}
