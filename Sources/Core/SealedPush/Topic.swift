import PushCore

/// The app's bundle ID without a suffix: 1 to 155 bytes of `[A-Za-z0-9.-]`, compared exactly.
///
/// It is part of every envelope's key schedule and of the content, so a message sealed for one app doesn't open
/// in another. Source: Specification 1.
public struct Topic: Hashable, Sendable, CustomStringConvertible {
    /// The text itself.
    public let description: String

    /// Returns nil unless the text is a topic.
    public init?(parsing text: String) {
        guard (1...Self.maximumByteCount).contains(text.utf8.count), text.utf8.allSatisfy(\.isOfHostName) else {
            return nil
        }
        description = text
    }

    package static let maximumByteCount = 155
}

extension Topic: ExpressibleByStringLiteral {
    /// Creates a topic from the program's own source; an invalid one stops the program.
    public init(stringLiteral text: String) {
        guard let topic = Topic(parsing: text) else {
            preconditionFailure("a topic is a bundle ID: 1 to 155 letters, digits, dots, and hyphens")
        }
        self = topic
    }
}
