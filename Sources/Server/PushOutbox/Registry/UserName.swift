/// The app's own name for a user: 1 to 128 bytes of visible text. It is stored in the outbox and appears in listings. Names
/// are compared by their bytes: `é` as one code point and as two are different names.
public struct UserName: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    private let name: Name
    public var description: String { name.text }

    /// Creates a name, or returns `nil` unless the text has 1 to 128 bytes, no control characters, and a visible character,
    /// and isn't `.` or `..`.
    public init?(parsing text: String) {
        guard let name = Name(text) else { return nil }
        self.name = name
    }

    /// Creates a name from a literal in the program's source; an invalid one stops the program.
    public init(stringLiteral text: String) { self = Name.usable(UserName(parsing: text)) }
}
