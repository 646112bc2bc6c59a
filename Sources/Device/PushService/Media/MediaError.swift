public import SealedPush

/// Why a message's file wasn't fetched. Contains no address.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum MediaError: StageError, Equatable {
    /// The address isn't `https`.
    case notSecure
    /// The address is private or local, and the app hasn't allowed it.
    case addressRefused
    /// There were more than three redirects.
    case tooManyRedirects
    /// The status isn't 200.
    case status(Int)
    /// The connection failed or was lost, or no data arrived for 10 seconds.
    case network
    /// The file itself failed a check, or couldn't be written.
    case file(AttachmentError)
    /// The content in the file isn't the message's.
    case otherContent

    /// The code for the log.
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

extension MediaError: CustomStringConvertible {
    /// One sentence for the app's own log.
    public var description: String {
        switch self {
        case .notSecure: "the file's address must begin with https"
        case .addressRefused: "the file's address is private or local, and the app hasn't allowed it"
        case .tooManyRedirects: "the server redirected the request more than three times"
        case .status(let status): "the server answered with \(status) instead of 200"
        case .network: "the connection failed or was lost, or no data arrived for 10 seconds"
        case .file(let error): error.description
        case .otherContent: "the content in the file isn't this message's"
        }
    }
}
