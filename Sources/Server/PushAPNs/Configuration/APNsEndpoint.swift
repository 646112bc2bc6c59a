/// The address of an APNs server: HTTP/2 over TLS 1.2 or later. Source: Apple, "Sending notification requests to APNs".
public struct APNsEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// A host name or an IP address, which the certificate must match.
    public let host: String
    /// The port: 1 to 65,535.
    public let port: Int

    /// Creates an endpoint for another server, such as a local APNs.
    public init(host: String, port: Int) {
        precondition((1...65_535).contains(port), "a port must be 1 to 65,535")
        self.host = host
        self.port = port
    }

    /// Apple's production server, for apps from the App Store and TestFlight.
    public static let production = APNsEndpoint(host: "api.push.apple.com", port: 443)
    /// Apple's sandbox server, for apps that were started from Xcode.
    public static let sandbox = APNsEndpoint(host: "api.sandbox.push.apple.com", port: 443)

    /// The host and port.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
