public import SealedPush

/// Why content was not sealed. Holds no content.
public enum SealError: Error, Equatable, Sendable {
    /// By how many bytes of content JSON it is too much for one push.
    case tooLarge(byteCountOver: Int)
    /// The content itself can't be sealed.
    case content(ContentError)
    /// The content names another topic than the sealer's.
    case otherTopic
}

extension SealError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .tooLarge(let over): "the content is \(over) bytes too large for one push"
        case .content(let error): error.description
        case .otherTopic: "the content names another topic than the one it is sealed for"
        }
    }
}
