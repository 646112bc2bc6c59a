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
