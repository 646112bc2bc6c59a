/// A second implementation of JSON's grammar (RFC 8259), to compare with what the project accepts.
public struct JSONRule {
    /// Whether the text is a single object in UTF-8, surrounded only by white space, and at most 16 levels deep.
    public private(set) var isObject = false
    /// Whether there is a lone surrogate (`\ud800`), which the grammar allows but isn't text.
    public private(set) var hasLoneSurrogate = false
    /// Whether a name is repeated in an object. It isn't I-JSON, so nothing is promised (Specification 4.5).
    public private(set) var hasRepeatedName = false
    /// Whether there is a number too large for a finite Double.
    public private(set) var hasTooLargeNumber = false
    /// Whether there is an integer beyond Int64, which a sender must not change (Specification 4.5).
    public private(set) var hasTooLargeInteger = false

    private var rest: ArraySlice<UInt8>
    private static let maximumDepth = 16

    public init(_ bytes: [UInt8]) {
        rest = bytes[...]
        guard String(validating: bytes, as: UTF8.self) != nil else { return }
        skipWhiteSpace()
        guard rest.first == UInt8(ascii: "{"), value(depth: 0) else { return }
        skipWhiteSpace()
        isObject = rest.isEmpty
    }

    private mutating func value(depth: Int) -> Bool {
        switch rest.first {
        case UInt8(ascii: "{"): members(depth: depth + 1)
        case UInt8(ascii: "["): elements(depth: depth + 1)
        case UInt8(ascii: "\""): string() != nil
        case UInt8(ascii: "t"): take("true")
        case UInt8(ascii: "f"): take("false")
        case UInt8(ascii: "n"): take("null")
        default: number()
        }
    }

    private mutating func members(depth: Int) -> Bool {
        var names: Set<String> = []
        return list(depth: depth, end: "}") { json in
            guard let name = json.string() else { return false }
            if !names.insert(name).inserted { json.hasRepeatedName = true }
            json.skipWhiteSpace()
            guard json.take(":") else { return false }
            json.skipWhiteSpace()
            return json.value(depth: depth)
        }
    }

    private mutating func elements(depth: Int) -> Bool { list(depth: depth, end: "]") { $0.value(depth: depth) } }

    private mutating func list(depth: Int, end: String, _ item: (inout JSONRule) -> Bool) -> Bool {
        guard depth <= Self.maximumDepth else { return false }
        rest.removeFirst()
        skipWhiteSpace()
        if take(end) { return true }
        repeat {
            skipWhiteSpace()
            guard item(&self) else { return false }
            skipWhiteSpace()
        } while take(",")
        return take(end)
    }

    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let scalar = escape() else { return nil }
                text += Array(String(scalar).utf8)
            case 0..<0x20: return nil
            default: text.append(byte)
            }
        }
        return nil
    }

    /// Parses the part after a backslash; returns U+FFFD for a lone surrogate.
    private mutating func escape() -> UnicodeScalar? {
        let letter = rest.popFirst()
        guard letter == UInt8(ascii: "u") else { return letter.flatMap { Self.escapes[$0] } }
        guard let unit = fourDigits() else { return nil }
        let afterFirst = rest
        if (0xd800..<0xdc00).contains(unit), take("\\u"), let low = fourDigits(), (0xdc00..<0xe000).contains(low) {
            return UnicodeScalar(0x1_0000 + (unit - 0xd800) << 10 + (low - 0xdc00))
        }
        rest = afterFirst
        if let scalar = UnicodeScalar(unit) { return scalar }
        hasLoneSurrogate = true
        return "\u{fffd}"
    }

    private static let escapes: [UInt8: UnicodeScalar] = Dictionary(
        uniqueKeysWithValues: zip("\"\\/bfnrt".utf8, "\"\\/\u{8}\u{c}\n\r\t".unicodeScalars))

    private mutating func fourDigits() -> UInt32? {
        let digits = rest.prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else { return nil }
        rest = rest.dropFirst(4)
        return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    private mutating func number() -> Bool {
        let start = rest
        _ = take("-")
        let isZero = take("0")
        guard isZero || digits() else { return false }
        let integer = String(decoding: start[..<rest.startIndex], as: UTF8.self)
        let hasFraction = [".", "e", "E"].contains { rest.starts(with: $0.utf8) }
        if !hasFraction, Int64(integer) == nil { hasTooLargeInteger = true }
        if take("."), !digits() { return false }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            guard digits() else { return false }
        }
        let text = String(decoding: start[..<rest.startIndex], as: UTF8.self)
        if Double(text)?.isFinite != true { hasTooLargeNumber = true }
        return true
    }

    /// Parses at least one digit.
    private mutating func digits() -> Bool {
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        rest = rest[digits.endIndex...]
        return !digits.isEmpty
    }

    private mutating func take(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    private mutating func skipWhiteSpace() { rest = rest.drop { " \t\n\r".utf8.contains($0) } }
}
