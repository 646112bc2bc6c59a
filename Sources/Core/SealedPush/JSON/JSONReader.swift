internal import PushCore

/// Reads strict JSON (RFC 8259) that nobody vouches for: one pass over the bytes, in stack and memory bounded by them.
///
/// What is decided here holds for contents, payloads, push files and all our own files: objects and arrays lie at most
/// so deep in one another; no name comes twice in an object, also not in two forms that are canonically equivalent; text
/// is UTF-8 without lone surrogates; a number is an Int64, or else a finite Double. Source: Specification 4.4, 4.5.
package struct JSONReader {
    /// How deep arrays and objects may lie in one another in a content; the outermost is 1.
    package static let maximumDepth = 16
    /// The same for a payload, which is Apple's, and only carries a content.
    package static let maximumPayloadDepth = 64

    private let bytes: UnsafeBufferPointer<UInt8>
    private let maximumDepth: Int
    private var depth = 0
    /// Where the next byte to be read lies.
    private var place = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
    }

    /// The members of the one object that `bytes` hold; nil where they are longer, or hold anything else.
    package static func object(
        _ bytes: [UInt8], maximumByteCount: Int, maximumDepth: Int = maximumDepth
    ) -> [String: JSONValue]? {
        guard bytes.count <= maximumByteCount else { return nil }
        return bytes.withUnsafeBufferPointer { members($0, maximumDepth: maximumDepth)?.dictionary }
    }

    /// The same, to be taken out one by one.
    package static func members(_ bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int = maximumDepth) -> JSONMembers? {
        var reader = JSONReader(bytes, maximumDepth: maximumDepth)
        reader.skipSpace()
        guard let members = reader.members() else { return nil }
        reader.skipSpace()
        return reader.isAtEnd ? members : nil
    }

    private var isAtEnd: Bool { place == bytes.count }
    private var peek: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func skipSpace() {
        while place < bytes.count {
            switch bytes[place] {
            case 0x20, 0x09, 0x0a, 0x0d: place += 1
            default: return
            }
        }
    }

    /// Walks over an object from its opening bracket; `member` is called behind each colon with the place of the name,
    /// between its quotes, and takes the value. False where that is not one.
    private mutating func object(_ member: (inout JSONReader, Text) -> Bool) -> Bool {
        walk(from: UInt8(ascii: "{"), to: UInt8(ascii: "}")) { reader in
            guard let name = reader.string() else { return false }
            reader.skipSpace()
            guard reader.take(UInt8(ascii: ":")) else { return false }
            reader.skipSpace()
            return member(&reader, name)
        }
    }

    /// A string's bytes between the quotes, as they stand.
    private struct Text {
        let range: Range<Int>
        let hasEscapes: Bool
    }

    /// Any value; nil where there is none.
    private mutating func value() -> JSONValue? {
        switch peek {
        case UInt8(ascii: "\"")?: string().flatMap(text).map(JSONValue.string)
        case UInt8(ascii: "{")?: members().map { .object($0.dictionary) }
        case UInt8(ascii: "[")?: elements().map(JSONValue.array)
        case UInt8(ascii: "t")?: take("true") ? .bool(true) : nil
        case UInt8(ascii: "f")?: take("false") ? .bool(false) : nil
        case UInt8(ascii: "n")?: take("null") ? .null : nil
        default: number().flatMap(value)
        }
    }

    private mutating func members() -> JSONMembers? {
        var members = JSONMembers()
        var names: Set<String> = []
        let isRead = object { reader, name in
            guard let name = reader.text(name), members.isNew(name, &names), let value = reader.member() else {
                return false
            }
            members.append(name, value)
            return true
        }
        return isRead ? members : nil
    }

    private mutating func member() -> JSONMembers.Value? {
        peek == UInt8(ascii: "{") ? members().map(JSONMembers.Value.members) : value().map(JSONMembers.Value.other)
    }

    private mutating func elements() -> [JSONValue]? {
        var elements: [JSONValue] = []
        let isRead = walk(from: UInt8(ascii: "["), to: UInt8(ascii: "]")) { reader in
            guard let value = reader.value() else { return false }
            elements.append(value)
            return true
        }
        return isRead ? elements : nil
    }

    /// What stands in brackets, with commas between.
    private mutating func walk(from open: UInt8, to close: UInt8, _ element: (inout JSONReader) -> Bool) -> Bool {
        guard take(open), depth < maximumDepth else { return false }
        depth += 1
        defer { depth -= 1 }
        skipSpace()
        if take(close) { return true }
        repeat {
            skipSpace()
            guard element(&self) else { return false }
            skipSpace()
        } while take(UInt8(ascii: ","))
        return take(close)
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        place += 1
        return true
    }

    private mutating func take(_ word: StaticString) -> Bool {
        word.withUTF8Buffer { word in
            guard bytes[place...].starts(with: word) else { return false }
            place += word.count
            return true
        }
    }
}

/// Strings.
extension JSONReader {
    private mutating func string() -> Text? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = place
        var hasEscapes = false
        while true {
            place = JSONCharacters.endOfPlain(UnsafeRawBufferPointer(bytes), from: place)
            if take(UInt8(ascii: "\"")) { return Text(range: start..<place - 1, hasEscapes: hasEscapes) }
            guard take(UInt8(ascii: "\\")), skipEscape() else { return nil }
            hasEscapes = true
        }
    }

    private mutating func skipEscape() -> Bool {
        guard let byte = peek else { return false }
        place += 1
        guard byte == UInt8(ascii: "u") else { return Self.unescaped(byte) != nil }
        guard hexadecimal(at: place) != nil else { return false }
        place += 4
        return true
    }

    /// Nil where it is no UTF-8, or has half a surrogate pair.
    private func text(_ text: Text) -> String? {
        let bytes = UnsafeBufferPointer(rebasing: bytes[text.range])
        guard text.hasEscapes else { return String(strictUTF8: bytes) }
        var unescaped: [UInt8] = []
        unescaped.reserveCapacity(text.range.count)
        var index = text.range.lowerBound
        while index < text.range.upperBound {
            let byte = self.bytes[index]
            index += 1
            guard byte == UInt8(ascii: "\\") else {
                unescaped.append(byte)
                continue
            }
            let letter = self.bytes[index]
            index += 1
            if let byte = Self.unescaped(letter) {
                unescaped.append(byte)
            } else {
                guard let scalar = scalar(at: &index) else { return nil }
                unescaped.append(contentsOf: String(scalar).utf8)
            }
        }
        return String(strictUTF8: unescaped)
    }

    /// What the digits behind `\u` stand for; two escapes where the first is half of a pair.
    private func scalar(at index: inout Int) -> Unicode.Scalar? {
        guard let first = hexadecimal(at: index) else { return nil }
        index += 4
        guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
        guard bytes[index...].starts(with: "\\u".utf8), let second = hexadecimal(at: index + 2),
            UTF16.isTrailSurrogate(second)
        else { return nil }
        index += 6
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }

    private func hexadecimal(at start: Int) -> UInt16? {
        guard start + 4 <= bytes.count else { return nil }
        var value: UInt16 = 0
        for byte in bytes[start..<start + 4] {
            guard let digit = Hex.value(byte) else { return nil }
            value = value << 4 | UInt16(digit)
        }
        return value
    }

    private static func unescaped(_ letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0c
        case UInt8(ascii: "n"): 0x0a
        case UInt8(ascii: "r"): 0x0d
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }
}

/// Numbers.
extension JSONReader {
    private struct Number {
        let range: Range<Int>
        let isInteger: Bool
    }

    private mutating func number() -> Number? {
        let start = place
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { guard takeDigits() else { return nil } }
        var isInteger = true
        if take(UInt8(ascii: ".")) {
            guard takeDigits() else { return nil }
            isInteger = false
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
            guard takeDigits() else { return nil }
            isInteger = false
        }
        return Number(range: start..<place, isInteger: isInteger)
    }

    private mutating func takeDigits() -> Bool {
        let start = place
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { place += 1 }
        return place > start
    }

    /// A whole number is an integer, however it was written: so what was read and written reads the same again.
    private func value(_ number: Number) -> JSONValue? {
        let text = String(decoding: bytes[number.range], as: UTF8.self)
        if number.isInteger, let value = Int64(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else { return nil }
        return Int64(exactly: value).map(JSONValue.integer) ?? .number(value)
    }
}
