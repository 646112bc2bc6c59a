/// Why rules weren't read or written. When writing fails, the previous rules remain.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum RulesError: Error, Equatable, Sendable {
    /// The file is damaged, or can't be read at the moment, such as before the first unlock.
    case unreadable
    /// The rules take more than 131,072 bytes of JSON, or a thread or a person has a name of more than 256 bytes.
    case tooMany
    /// The disk is full, or the container doesn't exist.
    case notWritten
}

extension RulesError: CustomStringConvertible {
    /// One sentence for the app's own log.
    public var description: String {
        switch self {
        case .unreadable: "the rules can't be read: the file is damaged, or the phone hasn't been unlocked yet"
        case .tooMany: "the rules take more than 131,072 bytes of JSON, or a name in them more than 256"
        case .notWritten: "the rules can't be written: the disk is full, or the app group's container doesn't exist"
        }
    }
}

extension RulesError: StageError {
    /// The code in the log.
    public var code: String {
        switch self {
        case .unreadable: "unreadable"
        case .tooMany: "too-many"
        case .notWritten: "not-written"
        }
    }
}
