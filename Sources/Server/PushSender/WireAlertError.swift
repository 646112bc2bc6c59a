/// The reason that a text can't be the clear alert.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum WireAlertError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A text is empty, white space, or invisible. iOS might not run the extension.
    case nothingVisible
    /// Too much of the payload would be in the clear.
    case tooLong(byteCount: Int, maximum: Int)

    /// A sentence for an operator.
    public var description: String {
        switch self {
        case .nothingVisible:
            "a text in it has nothing visible, and iOS doesn't run an extension for a push that shows nothing"
        case .tooLong(let count, let maximum): "it takes \(count) bytes of JSON; the maximum is \(maximum)"
        }
    }
}
