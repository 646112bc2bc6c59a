/// Why values weren't written; the previous ones remain.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum SharedValuesError: Error, Equatable, Sendable {
    /// There are more than 64 values.
    case tooMany
    /// A name isn't one that a placeholder can have.
    case badName
    /// A value is larger than 4,096 bytes.
    case tooLong(name: String)
    /// The values take more than 65,536 bytes of JSON in all.
    case tooMuch
    /// The disk is full, or the container doesn't exist.
    case notWritten
}

extension SharedValuesError: CustomStringConvertible {
    /// One sentence for the app's own log.
    public var description: String {
        switch self {
        case .tooMany: "there are more than 64 values"
        case .badName: "a name must have 1 to 64 letters from A to Z, digits, dots, hyphens, and underscores"
        case .tooLong(let name): "the value of \(name) is larger than 4,096 bytes"
        case .tooMuch: "the values take more than 65,536 bytes of JSON in all"
        case .notWritten: "the values can't be written: the disk is full, or the app group's container doesn't exist"
        }
    }
}
