internal import SealedPush

/// The address of a page: a port on this machine.
package struct PagePlace: Sendable, Equatable {
    package let host: String
    /// The port; 0 for any free port.
    package let port: Int

    /// A browser's names for this machine.
    static let hosts = ["127.0.0.1", "[::1]", "localhost"]

    /// Parses HOST:PORT.
    package init?(parsing text: String) {
        guard let place = HostAndPort(parsing: text),
            let host = Self.hosts.first(where: { $0 == place.host || $0 == "[\(place.host)]" })
        else { return nil }
        (self.host, port) = (host, place.port)
    }
}
