public import SealedPush

/// Why a file of a message was not fetched. Holds no address.
public enum MediaError: StageError, Equatable {
    /// Not `https`.
    case notSecure
    /// A private or local address, which the app has not allowed.
    case addressRefused
    /// More than three redirects.
    case tooManyRedirects
    /// Another status than 200.
    case status(Int)
    /// The connection failed, was cut, or nothing came for 10 seconds.
    case network
    /// The file itself.
    case file(AttachmentError)
    /// The content in it is not the message's.
    case otherContent

    public var code: String {
        switch self {
        case .notSecure: "not-secure"
        case .addressRefused: "address-refused"
        case .tooManyRedirects: "too-many-redirects"
        case .status(let status): "status-\(status)"
        case .network: "network"
        case .file(let error): error.rawValue
        case .otherContent: "other-content"
        }
    }
}
