internal import NIOSSL

/// The certificate authorities that are trusted to identify the server.
public struct TrustRoots: Sendable {
    let tlsRoots: NIOSSLTrustRoots

    /// The system's certificate authorities.
    public static let system = TrustRoots(tlsRoots: .default)

    /// Trusts only the certificates in `pem`: one or more, as text between BEGIN and END lines.
    public init(pem: [UInt8]) throws(APNsConfigurationError) {
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(pem), !certificates.isEmpty else {
            throw .malformedTrustRoots
        }
        tlsRoots = .certificates(certificates)
    }

    private init(tlsRoots: NIOSSLTrustRoots) { self.tlsRoots = tlsRoots }
}
