internal import SealedPush

/// The app's own name of a user: 1 to 128 bytes of visible text. It stands in the outbox file and in lists.
public struct UserName: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// Nil unless the text has 1 to 128 bytes, no control characters, and something to see.
    public init?(parsing text: String) {
        guard Name.isAllowed(text) else { return nil }
        description = text
    }
}

/// The app's own name of one installation on one device, such as an ID that the app makes when it first runs: 1 to 128
/// bytes of visible text. It stays while tokens and keys change, and stands in the outbox file and in lists. One name is one
/// device, whoever is logged in there.
public struct DeviceName: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// Nil unless the text has 1 to 128 bytes, no control characters, and something to see.
    public init?(parsing text: String) {
        guard Name.isAllowed(text) else { return nil }
        description = text
    }
}

private enum Name {
    static func isAllowed(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count) && VisibleText.isVisible(text)
            && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}

extension UserName: ExpressibleByStringLiteral {
    /// A name that stands in the program's own source; an unusable one stops the program.
    public init(stringLiteral text: String) {
        guard let name = UserName(parsing: text) else {
            preconditionFailure("a user's name has 1 to 128 visible bytes")
        }
        self = name
    }
}

extension DeviceName: ExpressibleByStringLiteral {
    /// A name that stands in the program's own source; an unusable one stops the program.
    public init(stringLiteral text: String) {
        guard let name = DeviceName(parsing: text) else {
            preconditionFailure("a device's name has 1 to 128 visible bytes")
        }
        self = name
    }
}
