internal import PushCore

/// A key's name: 1 to 64 letters, digits, dots, hyphens, and underscores, starting with a letter or digit.
public struct KeyName: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    public let description: String

    /// Returns nil unless the text is a valid name.
    public init?(parsing text: String) {
        guard (1...64).contains(text.utf8.count), let first = text.utf8.first, first.isLetter || first.isDigit,
            text.utf8.allSatisfy(\.isOfFileName)
        else { return nil }
        description = text
    }

    /// Creates a name from a literal. An invalid literal stops the program.
    public init(stringLiteral text: String) {
        guard let name = KeyName(parsing: text) else {
            preconditionFailure("a key's name must be 1 to 64 letters, digits, dots, hyphens, and underscores")
        }
        self = name
    }
}
