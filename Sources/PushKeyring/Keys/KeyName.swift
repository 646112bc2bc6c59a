/// A key's name: 1 to 64 letters, digits, dots, hyphens and underscores, beginning with a letter or digit.
public struct KeyName: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// Nil unless the text is a name.
    public init?(parsing text: String) {
        func isLetterOrDigit(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: false
            }
        }
        guard (1...64).contains(text.utf8.count), let first = text.utf8.first, isLetterOrDigit(first),
            text.utf8.allSatisfy({ isLetterOrDigit($0) || Array(".-_".utf8).contains($0) })
        else { return nil }
        description = text
    }
}

extension KeyName: ExpressibleByStringLiteral {
    /// A name that stands in the program's own source; an unusable one stops the program.
    public init(stringLiteral text: String) {
        guard let name = KeyName(parsing: text) else {
            preconditionFailure("a key's name has 1 to 64 letters, digits, dots, hyphens and underscores")
        }
        self = name
    }
}
