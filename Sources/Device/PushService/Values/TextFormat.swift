internal import PushCore

/// A text with placeholders for a message's arguments: `%@`, `%1$@`, and `%%`. It's filled in without `String(format:)`, which
/// trusts its format: `%d` and `%n` would read memory that isn't an argument. Source: ContentParts 17.3.1.
enum TextFormat {
    /// Returns nil for any other percent sign, and for a placeholder without an argument.
    static func fill(_ format: String, with arguments: [String]) -> String? {
        var text = ""
        var next = 0
        var rest = format.utf8[...]
        while let percent = rest.firstIndex(of: UInt8(ascii: "%")) {
            text += String(Substring(rest[..<percent]))
            rest = rest[percent...].dropFirst()
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            if rest.first == UInt8(ascii: "%") {
                text += "%"
                rest = rest.dropFirst()
            } else if rest.first == UInt8(ascii: "@") {
                guard next < arguments.count else { return nil }
                text += arguments[next]
                next += 1
                rest = rest.dropFirst()
            } else {
                rest = rest.dropFirst(digits.count)
                guard digits.first != UInt8(ascii: "0"), let number = Int(Substring(digits)),
                    number <= arguments.count, rest.starts(with: "$@".utf8)
                else { return nil }
                text += arguments[number - 1]
                rest = rest.dropFirst(2)
            }
        }
        return text + String(Substring(rest))
    }
}
