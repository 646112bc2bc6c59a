/// Why a local APNs could not be started, or went wrong.
package enum LocalAPNsError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A file or folder can't be used: which, and the system's words.
    case folder(String, String)
    /// Not the content that this server writes.
    case damaged(String)
    /// The port can't be had.
    case notBound(String)
    case certificate(String)
    /// A number that makes no sense.
    case configuration(String)

    package var description: String {
        switch self {
        case .folder(let path, let message): "\(path): \(message)"
        case .damaged(let path): "\(path) is damaged"
        case .notBound(let message): "the local APNs can't listen: \(message)"
        case .certificate(let message): "no certificate: \(message)"
        case .configuration(let message): message
        }
    }
}
