/// An error in starting or running a local APNs.
package enum LocalAPNsError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A file or folder can't be used: its path, and the system's message.
    case folder(String, String)
    /// A file doesn't contain what this server writes: its path.
    case damaged(String)
    /// The server can't listen on the port or socket.
    case notBound(String)
    case certificate(String)
    /// A number in the configuration is out of range.
    case configuration(String)

    package var description: String {
        switch self {
        case .folder(let path, let message): "\(path): \(message)"
        case .damaged(let path): "\(path) is damaged; restore or delete it"
        case .notBound(let message): "the local APNs can't listen: \(message)"
        case .certificate(let message): "can't create or load the server's certificate: \(message)"
        case .configuration(let message): message
        }
    }
}
