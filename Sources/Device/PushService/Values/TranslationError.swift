/// Why a message's texts stay as they were sealed. Contains no text.
enum TranslationError: StageError, Equatable {
    /// The app has no text of this name in the phone's language.
    case noSuchText
    /// The app's text has a placeholder other than `%@` or `%1$@`, or one that the message has no argument for.
    case unusableFormat
    /// The texts would show nothing.
    case nothingVisible

    var code: String {
        switch self {
        case .noSuchText: "no-such-text"
        case .unusableFormat: "unusable-format"
        case .nothingVisible: "nothing-visible"
        }
    }
}
