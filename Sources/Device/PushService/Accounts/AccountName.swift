/// The name that the app gives to an account: 1 to 128 visible ASCII characters without spaces, compared exactly.
///
/// It stays on the device, in the keychain and in notifications' user info. Use what your app already uses, such as a user's
/// ID at a server.
public struct AccountName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The text itself.
    public let description: String

    /// Returns nil unless the text is such a name.
    public init?(parsing text: String) {
        guard (1...128).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            return nil
        }
        description = text
    }

    public static func < (first: AccountName, second: AccountName) -> Bool {
        first.description.utf8.lexicographicallyPrecedes(second.description.utf8)
    }
}

extension AccountName: ExpressibleByStringLiteral {
    /// Creates a name from the program's own source; an invalid one stops the program.
    public init(stringLiteral text: String) {
        guard let name = AccountName(parsing: text) else {
            preconditionFailure("an account's name is 1 to 128 visible ASCII characters without spaces")
        }
        self = name
    }
}
