internal import NIOCore
internal import NIOSSL

/// What a transport needs to know. Only endpoint and key have no default.
public struct APNSConfiguration: Sendable {
    public var endpoint: APNSEndpoint
    public var key: ProviderKey
    /// Which certificate authorities are believed.
    public var trustRoots: TrustRoots
    public var limits = Limits()
    public var deadlines = Deadlines()

    public init(endpoint: APNSEndpoint, key: ProviderKey, trustRoots: TrustRoots = .system) {
        self.endpoint = endpoint
        self.key = key
        self.trustRoots = trustRoots
    }

    /// How much at once.
    public struct Limits: Hashable, Sendable {
        /// Connections for device tokens that APNs has accepted a push for: 1 or more. The second and later ones are opened
        /// when all others are full.
        public var connectionCount = 4
        /// Pushes that wait for a free stream. The next one fails with `overloaded`: 1 or more.
        public var waitingCount = 100_000
        /// The number of a connection's first stream: for tests of the last.
        var firstStreamID: Int32 = 1

        public init() {}
    }

    /// How long to wait. All are checked each 100 ms.
    public struct Deadlines: Hashable, Sendable {
        /// From the look-up of the name to the server's settings.
        public var connect: Duration = .seconds(10)
        /// From the call to the answer, the time in the queue included.
        public var request: Duration = .seconds(30)
        /// How long a connection may owe answers without giving one while pushes wait for it, because it is full or has not
        /// accepted any push yet. Then another is opened; late answers are still taken.
        package var firstAnswer: Duration = .seconds(5)
        /// Silence after which a connection that owes an answer is pinged.
        package var pingWhileBusy: Duration = .seconds(10)
        /// Silence after which an idle connection is pinged. Apple asks for an hour.
        package var pingWhileIdle: Duration = .seconds(3_600)
        /// From a ping to its answer; then the connection is given up.
        public var ping: Duration = .seconds(10)
        /// How long a connection is kept that nothing is sent on. Apple wants them kept for hours to days.
        public var idle: Duration = .seconds(86_400)
        /// How long all connections must be full before another is opened.
        public var full: Duration = .milliseconds(500)
        /// How long the end of a connection that we did not end ourselves keeps the next one waiting, with jitter: doubled
        /// each time, until one has worked for ten seconds.
        package var firstBackoff: Duration = .milliseconds(250)
        package var longestBackoff: Duration = .seconds(30)

        public init() {}
    }
}

/// What is wrong with a transport's configuration. None of them repeats what was given.
public enum APNSConfigurationError: Error, Hashable, Sendable {
    /// Not an EC P-256 private key in PEM, as in Apple's .p8 files.
    case malformedKey
    /// Something else in PEM.
    case otherPEM(OtherPEM)
    /// A key ID or team ID is 10 letters and digits.
    case malformedIdentifier
    /// No certificates in PEM.
    case malformedTrustRoots
    /// TLS could not be set up with them.
    case tls

    /// What is often taken for a .p8 file, by its label.
    public enum OtherPEM: String, Sendable {
        case certificate = "CERTIFICATE"
        case publicKey = "PUBLIC KEY"
        /// A private key under a passphrase.
        case encryptedKey = "ENCRYPTED PRIVATE KEY"
    }
}

/// The deadlines in the unit that event loops count in.
@dynamicMemberLookup struct DeadlineAmounts: Sendable {
    let deadlines: APNSConfiguration.Deadlines

    subscript(dynamicMember path: KeyPath<APNSConfiguration.Deadlines, Duration>) -> TimeAmount {
        TimeAmount(deadlines[keyPath: path])
    }
}

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
