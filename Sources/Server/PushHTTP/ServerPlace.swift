package enum ServerPlace: Hashable, Sendable {
    /// A socket in a local folder, which only this user can open, and the group with which its folder is shared.
    case socket(String)
    /// An address and a port; 0 for any free port.
    case address(String, port: Int)

    /// Whether the place can be reached only from this machine.
    package var isLocal: Bool {
        switch self {
        case .socket: true
        case .address(let host, _): Self.localHosts.contains(host)
        }
    }

    var isSocket: Bool { if case .socket = self { true } else { false } }

    static let localHosts = ["127.0.0.1", "::1", "localhost"]

    /// - Parameter port: the actual port, which replaces a requested port of 0.
    package func description(_ port: Int?) -> String {
        switch self {
        case .socket(let path): path
        case .address(let host, let number): "\(host.contains(":") ? "[\(host)]" : host):\(port ?? number)"
        }
    }
}
