internal import PushCore

/// Writes compact JSON (RFC 8259) into bytes. Our own writer, since content and payload are written for every push, and
/// Foundation's encoder alone would take longer than all of sealing (Docs/Decisions/0004-json.md).
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []

    package init(reservingByteCount count: Int = 512) { bytes.reserveCapacity(count) }

    private init(taking bytes: inout [UInt8]) { swap(&bytes, &self.bytes) }

    package var byteCount: Int { bytes.count }

    /// Ends a line, for output with one value per line.
    package mutating func endLine() { bytes.append(UInt8(ascii: "\n")) }

    package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Writes an object with members in the order in which `body` adds them.
    package mutating func object(_ body: (inout Members) -> Void) {
        // The buffer moves into `members` and back, so it is never copied.
        var members = Members(writer: JSONWriter(taking: &bytes))
        members.writer.bytes.append(UInt8(ascii: "{"))
        body(&members)
        swap(&bytes, &members.writer.bytes)
        bytes.append(UInt8(ascii: "}"))
    }

    package struct Members {
        var writer: JSONWriter
        private var isFirst = true

        init(writer: JSONWriter) { self.writer = writer }

        /// The number of bytes written since the writer's start.
        package var byteCount: Int { writer.bytes.count }

        package mutating func string(_ name: StaticString, _ value: String?) {
            guard let value else { return }
            key(name)
            writer.string(value)
        }

        package mutating func string(_ name: StaticString, utf8 value: [UInt8]) {
            key(name)
            value.withUnsafeBytes { writer.string(utf8: $0) }
        }

        package mutating func messageID(_ name: StaticString, _ id: MessageID?) {
            guard let id else { return }
            key(name)
            withUnsafeTemporaryAllocation(byteCount: MessageID.textByteCount, alignment: 1) { text in
                id.write(to: text)
                writer.string(utf8: UnsafeRawBufferPointer(text))
            }
        }

        package mutating func integer(_ name: StaticString, _ value: Int64?) {
            guard let value else { return }
            key(name)
            writer.integer(value)
        }

        package mutating func value(_ name: StaticString, _ value: JSONValue?) {
            guard let value else { return }
            key(name)
            writer.value(value)
        }

        package mutating func value(named name: String, _ value: JSONValue) {
            comma()
            writer.string(name)
            writer.bytes.append(UInt8(ascii: ":"))
            writer.value(value)
        }

        package mutating func object(_ name: StaticString, _ body: (inout Members) -> Void) {
            key(name)
            writer.object(body)
        }

        /// Writes the key with a single append: there are many names, and appending all takes as long as one byte.
        private mutating func key(_ name: StaticString) {
            let count = name.utf8CodeUnitCount
            withUnsafeTemporaryAllocation(byteCount: count + 4, alignment: 1) { text in
                text[0] = UInt8(ascii: ",")
                text[1] = UInt8(ascii: "\"")
                text[2..<(2 + count)].copyBytes(from: UnsafeRawBufferPointer(start: name.utf8Start, count: count))
                text[2 + count] = UInt8(ascii: "\"")
                text[3 + count] = UInt8(ascii: ":")
                writer.append(UnsafeRawBufferPointer(rebasing: text[(isFirst ? 1 : 0)...]))
            }
            isFirst = false
        }

        private mutating func comma() {
            if !isFirst { writer.bytes.append(UInt8(ascii: ",")) }
            isFirst = false
        }
    }

    /// Swift prints the shortest text that reads back as the same number, in JSON's own grammar. From 2^53 on, a reader that
    /// expects an integer might get a different one, so whole numbers are then written with all their digits.
    private static func text(_ value: Double) -> String {
        guard value.isFinite else { return "null" }
        if value.magnitude >= 0x1p53, let integer = Int64(exactly: value) { return String(integer) }
        return String(value)
    }

    /// Writes a value. The members of its objects are sorted by name, so that equal values produce equal bytes.
    package mutating func value(_ value: JSONValue) {
        switch value {
        case .null: raw("null")
        case .bool(let value): raw(value ? "true" : "false")
        case .integer(let value): integer(value)
        case .number(let value): raw(Self.text(value))
        case .string(let value): string(value)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                self.value(element)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            object { object in
                for (name, member) in members.sorted(by: { $0.key < $1.key }) { object.value(named: name, member) }
            }
        }
    }

    /// Writes a string in quotes, escaping only what JSON requires.
    package mutating func string(_ text: String) {
        var text = text
        text.withUTF8 { string(utf8: UnsafeRawBufferPointer($0)) }
    }

    private mutating func string(utf8 text: UnsafeRawBufferPointer) {
        bytes.append(UInt8(ascii: "\""))
        append(escaping: text)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends runs without escapes in one step: a payload has quotes at its ends, but none in between.
    private mutating func append(escaping characters: UnsafeRawBufferPointer) {
        var start = 0
        while start < characters.count {
            let end = JSONCharacters.endOfPlain(characters, from: start)
            append(UnsafeRawBufferPointer(rebasing: characters[start..<end]))
            guard end < characters.count else { return }
            appendEscaped(characters[end])
            start = end + 1
        }
    }

    private mutating func appendEscaped(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0a: bytes.append(UInt8(ascii: "n"))
        case 0x0c: bytes.append(UInt8(ascii: "f"))
        case 0x0d: bytes.append(UInt8(ascii: "r"))
        case 0..<0x20:
            raw("u00")
            bytes.append(Hex.digits[Int(byte >> 4)])
            bytes.append(Hex.digits[Int(byte & 15)])
        default: bytes.append(byte)
        }
    }

    private mutating func integer(_ value: Int64) {
        guard value >= 0 else { return raw(String(value)) }
        // Creating a string for each number takes longer than writing its digits.
        withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { digits in
            var (rest, place) = (UInt64(value), digits.count)
            repeat {
                place -= 1
                digits[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            append(UnsafeRawBufferPointer(rebasing: digits[place...]))
        }
    }

    private mutating func raw(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    private mutating func append(_ piece: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: piece.assumingMemoryBound(to: UInt8.self))
    }
}
