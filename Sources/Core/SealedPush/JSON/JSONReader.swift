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
    private let isForSealing: Bool
    private var depth = 0
    private var place = 0
    /// What is wrong, and where, if it is not that something else stands at `place`.
    private var fault: (cause: JSONFault.Cause, place: Int)?

    private init(_ bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int, isForSealing: Bool) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
        self.isForSealing = isForSealing
    }

    /// The members of the one object that `bytes` hold; nil where they are longer, or hold anything else.
    package static func object(
        _ bytes: [UInt8], maximumByteCount: Int, maximumDepth: Int = maximumDepth
    ) -> [String: JSONValue]? {
        guard bytes.count <= maximumByteCount else { return nil }
        return try? members(bytes, maximumDepth: maximumDepth).dictionary
    }

    /// The same, to be taken out one by one.
    ///
    /// - Parameters:
    ///   - bytes: that lie in a row, as arrays' and buffers' do.
    ///   - isForSealing: whether an integer beyond Int64 is refused, as a sender must not change it.
    package static func members(
        _ bytes: some Collection<UInt8>, maximumDepth: Int = maximumDepth, isForSealing: Bool = false
    ) throws(JSONFault) -> JSONMembers {
        func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Result<JSONMembers, JSONFault> {
            var reader = JSONReader(bytes, maximumDepth: maximumDepth, isForSealing: isForSealing)
            reader.skipSpace()
            if let members = reader.members() {
                reader.skipSpace()
                if reader.isAtEnd { return .success(members) }
                reader.fail(.textBehind)
            }
            return .failure(reader.jsonFault)
        }
        let result = bytes.withContiguousStorageIfAvailable(read) ?? Array(bytes).withUnsafeBufferPointer(read)
        return try result.get()
    }

    /// Whether a line has nothing but JSON's white space.
    package static func isBlank(_ line: some Collection<UInt8>) -> Bool { line.allSatisfy(isSpace) }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 }

    private var jsonFault: JSONFault {
        if let encoding = JSONFault.Cause(beginning: bytes) { return JSONFault(encoding, at: 0, in: bytes) }
        if let fault { return JSONFault(fault.cause, at: fault.place, in: bytes) }
        return JSONFault(depth == 0 ? .noObject : isAtEnd ? .cut : .unexpected, at: place, in: bytes)
    }

    /// Notes what is wrong, unless something was noted before; false.
    @discardableResult private mutating func fail(_ cause: JSONFault.Cause, at place: Int? = nil) -> Bool {
        if fault == nil { fault = (cause, place ?? self.place) }
        return false
    }

    private var isAtEnd: Bool { place == bytes.count }
    private var peek: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func skipSpace() { while place < bytes.count, Self.isSpace(bytes[place]) { place += 1 } }

    /// Walks over an object from its opening bracket; `member` is called behind each colon with the place of the name,
    /// between its quotes, and takes the value. False where that is not one.
    private mutating func object(_ member: (inout JSONReader, Text) -> Bool) -> Bool {
        walk(from: UInt8(ascii: "{"), to: UInt8(ascii: "}")) { reader in
            guard let name = reader.string() else { return reader.isAtEnd ? false : reader.fail(.noName) }
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

    private mutating func value() -> JSONValue? {
        switch peek {
        case UInt8(ascii: "\"")?: string().flatMap { text($0) }.map(JSONValue.string)
        case UInt8(ascii: "{")?: members().map { .object($0.dictionary) }
        case UInt8(ascii: "[")?: elements().map(JSONValue.array)
        case UInt8(ascii: "t")?: take("true") ? .bool(true) : nil
        case UInt8(ascii: "f")?: take("false") ? .bool(false) : nil
        case UInt8(ascii: "n")?: take("null") ? .null : nil
        default: number().flatMap { value($0) }
        }
    }

    private mutating func members() -> JSONMembers? {
        var members = JSONMembers()
        var names: Set<String> = []
        let isRead = object { reader, name in
            let place = name.range.lowerBound - 1
            guard let name = reader.text(name) else { return false }
            guard members.isNew(name, &names) else { return reader.fail(.nameTwice, at: place) }
            guard let value = reader.member() else { return false }
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
        guard take(open) else { return false }
        guard depth < maximumDepth else { return fail(.tooDeep, at: place - 1) }
        depth += 1
        skipSpace()
        if !take(close) {
            repeat {
                skipSpace()
                if peek == close { fail(.commaTooMany) }
                guard element(&self) else { return false }
                skipSpace()
            } while take(UInt8(ascii: ","))
            guard take(close) else { return false }
        }
        depth -= 1
        return true
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

extension JSONReader {
    private mutating func string() -> Text? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = place
        var hasEscapes = false
        while true {
            place = JSONCharacters.endOfPlain(UnsafeRawBufferPointer(bytes), from: place)
            if take(UInt8(ascii: "\"")) { return Text(range: start..<place - 1, hasEscapes: hasEscapes) }
            let place = place
            guard take(UInt8(ascii: "\\")), skipEscape() else {
                if place < bytes.count { fail(bytes[place] < 0x20 ? .controlCharacter : .escape, at: place) }
                return nil
            }
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
    private mutating func text(_ text: Text) -> String? {
        let bytes = UnsafeBufferPointer(rebasing: bytes[text.range])
        let read = text.hasEscapes ? unescaped(text) : String(strictUTF8: bytes)
        if read == nil { fail(.notUTF8, at: text.range.lowerBound - 1) }
        return read
    }

    private mutating func unescaped(_ text: Text) -> String? {
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
                let place = index - 2
                guard let scalar = scalar(at: &index) else {
                    fail(.halfPair, at: place)
                    return nil
                }
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
    private mutating func value(_ number: Number) -> JSONValue? {
        let text = String(decoding: bytes[number.range], as: UTF8.self)
        if number.isInteger, let value = Int64(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite, !number.isInteger || !isForSealing else {
            fail(number.isInteger ? .largeInteger : .largeNumber, at: number.range.lowerBound)
            return nil
        }
        return Int64(exactly: value).map(JSONValue.integer) ?? .number(value)
    }
}

/// Where bytes are not the JSON that is read here, and why. Holds nothing of them.
public struct JSONFault: Error, Hashable, Sendable {
    /// From 1 on.
    public let line: Int
    /// The byte within the line, from 1 on.
    public let column: Int
    let cause: Cause

    /// What is wrong at that place, as a sentence says it.
    enum Cause: String {
        case noObject = "there is no object in braces"
        case cut = "the object is cut off"
        case textBehind = "there is more behind the object"
        case unexpected = "this can't stand here"
        case noName = "a name in double quotes is missing"
        case commaTooMany = "there is a comma too many"
        case nameTwice = "this name is in the object already"
        case tooDeep = "objects and arrays are nested too deep"
        case controlCharacter = "a line end or control character in a string is written as an escape, such as \\n"
        case escape = "JSON has no such escape"
        case halfPair = "this is half of a surrogate pair"
        case notUTF8 = "this string is not UTF-8"
        case largeNumber = "this number is too large for a Double"
        case largeInteger = "this integer is beyond 64 bits: write it as a string, or it arrives as another"
        case byteOrderMark = "it begins with a byte order mark: save it without one"
        case otherEncoding = "it is UTF-16: save it as UTF-8"

        /// What the first bytes give away.
        fileprivate init?(beginning bytes: UnsafeBufferPointer<UInt8>) {
            if bytes.hasByteOrderMark {
                self = .byteOrderMark
            } else if bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff]) {
                self = .otherEncoding
            } else {
                return nil
            }
        }
    }

    fileprivate init(_ cause: Cause, at place: Int, in bytes: UnsafeBufferPointer<UInt8>) {
        let before = bytes[..<place]
        line = before.count { $0 == 0x0a } + 1
        column = place - (before.lastIndex(of: 0x0a) ?? -1)
        self.cause = cause
    }
}

extension JSONFault: CustomStringConvertible {
    /// `line 2, column 7: there is a comma too many`
    public var description: String { "line \(line), \(placeInLine)" }

    /// The same for whoever knows the line.
    package var placeInLine: String { "column \(column): \(cause.rawValue)" }
}
