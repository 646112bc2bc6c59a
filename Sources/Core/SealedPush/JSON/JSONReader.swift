internal import PushCore

/// Parses untrusted text as strict JSON (RFC 8259) in one pass, with stack and memory bounded by its length. The rules
/// apply to content, payloads, push files, and all our own files. Nesting and the length of names are limited. A name may
/// appear only once in an object, compared by bytes. Text must be UTF-8 without lone surrogates. A number is an Int64 or else
/// a finite Double. Source: Specification 4.4, 4.5.
package struct JSONReader {
    /// The maximum nesting depth of arrays and objects in content; the outermost level is 1.
    package static let maximumDepth = 16
    /// The same limit for a payload, which is in Apple's format and only carries content.
    package static let maximumPayloadDepth = 64
    /// The length of the longest name, in bytes. Dictionaries hash names, in time that grows with the square of the length.
    static let maximumNameByteCount = 256

    private let bytes: UnsafeBufferPointer<UInt8>
    private let maximumDepth: Int
    private let isForSealing: Bool
    private var depth = 0
    private var place = 0
    /// The error and its place; nil if the error is an unexpected byte at `place`.
    private var fault: (cause: JSONFault.Cause, place: Int)?

    private init(_ bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int, isForSealing: Bool) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
        self.isForSealing = isForSealing
    }

    /// Returns the members of the single object in `bytes`; nil if `bytes` is too long or contains anything else.
    package static func object(
        _ bytes: [UInt8], maximumByteCount: Int, maximumDepth: Int = maximumDepth
    ) -> [String: JSONValue]? {
        guard bytes.count <= maximumByteCount else { return nil }
        return try? members(bytes, maximumDepth: maximumDepth).dictionary
    }

    /// Returns the members of the single object in `bytes`, to be taken one by one. Contiguous storage, as in arrays and
    /// buffers, avoids a copy. With `isForSealing`, an integer beyond Int64 is an error: a sender must not change it.
    package static func members(
        _ bytes: some Collection<UInt8>, maximumDepth: Int = maximumDepth, isForSealing: Bool = false
    ) throws(JSONFault) -> JSONMembers {
        try read(bytes, maximumDepth: maximumDepth, isForSealing: isForSealing) { $0.members() }
    }

    /// Returns the single value in `bytes`, of any type; nil if `bytes` is too long or contains anything else.
    package static func value(
        _ bytes: [UInt8], maximumByteCount: Int, maximumDepth: Int = maximumDepth
    ) -> JSONValue? {
        guard bytes.count <= maximumByteCount else { return nil }
        return try? read(bytes, maximumDepth: maximumDepth, isForSealing: false) { $0.value() }
    }

    private static func read<Value>(
        _ bytes: some Collection<UInt8>, maximumDepth: Int, isForSealing: Bool, _ parse: (inout JSONReader) -> Value?
    ) throws(JSONFault) -> Value {
        func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Result<Value, JSONFault> {
            var reader = JSONReader(bytes, maximumDepth: maximumDepth, isForSealing: isForSealing)
            reader.skipSpace()
            if let value = parse(&reader) {
                reader.skipSpace()
                if reader.isAtEnd { return .success(value) }
                reader.fail(.textBehind)
            }
            return .failure(reader.jsonFault)
        }
        let result = bytes.withContiguousStorageIfAvailable(read) ?? Array(bytes).withUnsafeBufferPointer(read)
        return try result.get()
    }

    /// Whether a line has only JSON white space.
    package static func isBlank(_ line: some Collection<UInt8>) -> Bool { line.allSatisfy(isSpace) }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 }

    private var jsonFault: JSONFault {
        if let encoding = JSONFault.Cause(beginning: bytes) { return JSONFault(encoding, at: 0, in: bytes) }
        if let fault { return JSONFault(fault.cause, at: fault.place, in: bytes) }
        return JSONFault(depth == 0 ? .noObject : isAtEnd ? .cut : .unexpected, at: place, in: bytes)
    }

    /// Records an error unless there is one already; returns false.
    @discardableResult private mutating func fail(_ cause: JSONFault.Cause, at place: Int? = nil) -> Bool {
        if fault == nil { fault = (cause, place ?? self.place) }
        return false
    }

    private var isAtEnd: Bool { place == bytes.count }
    private var peek: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func skipSpace() { while place < bytes.count, Self.isSpace(bytes[place]) { place += 1 } }

    /// Parses an object from its opening bracket. Calls `member` after each colon with the range of the name between its
    /// quotes, to parse the value. Returns false if the object is invalid.
    private mutating func object(_ member: (inout JSONReader, Text) -> Bool) -> Bool {
        walk(from: UInt8(ascii: "{"), to: UInt8(ascii: "}")) { reader in
            guard let name = reader.string() else { return reader.isAtEnd ? false : reader.fail(.noName) }
            reader.skipSpace()
            guard reader.take(UInt8(ascii: ":")) else { return false }
            reader.skipSpace()
            return member(&reader, name)
        }
    }

    /// A string's bytes between the quotes, still escaped.
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
        var names: Set<[UInt8]> = []
        let isRead = object { reader, name in
            let place = name.range.lowerBound - 1
            guard let name = reader.text(name) else { return false }
            guard name.utf8.count <= Self.maximumNameByteCount else { return reader.fail(.longName, at: place) }
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

    /// Parses elements in brackets, separated by commas.
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

    /// Returns nil if the text isn't UTF-8 or has a lone surrogate.
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

    /// Returns the character for the digits after `\u`; a leading surrogate is combined with the escape after it.
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

    /// A whole number becomes an integer regardless of its spelling, so that parsing and writing are reversible.
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
