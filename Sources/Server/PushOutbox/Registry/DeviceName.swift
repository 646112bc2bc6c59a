/// The app's own name for one installation on one device, such as an ID that the app generates when it first runs: 1 to 128
/// bytes of visible text. It stays the same when tokens and keys change, is stored in the outbox, and appears in listings.
/// One name is one device, no matter who is logged in. Names are compared by their bytes, as for a ``UserName``.
public struct DeviceName: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    private let name: Name
    public var description: String { name.text }

    /// Creates a name, or returns `nil` unless the text has 1 to 128 bytes, no control characters, and a visible character,
    /// and isn't `.` or `..`.
    public init?(parsing text: String) {
        guard let name = Name(text) else { return nil }
        self.name = name
    }

    /// Creates a name from a literal in the program's source; an invalid one stops the program.
    public init(stringLiteral text: String) { self = Name.usable(DeviceName(parsing: text)) }

    package static let maximumByteCount = Name.maximumByteCount
}
