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

    /// The same host on port 2197, for networks that treat 443 specially.
    public var onAlternativePort: APNSEndpoint { APNSEndpoint(host: host, port: 2197) }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
