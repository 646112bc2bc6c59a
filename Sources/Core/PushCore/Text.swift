/// Lowercase hexadecimal digits, for public bytes.
package enum Hex {
    /// Returns the hexadecimal digits. Not generic: every push needs it, and other modules would call it unspecialized.
    package static func encode(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
            for (index, byte) in bytes.enumerated() {
                text[2 * index] = digits[Int(byte >> 4)]
                text[2 * index + 1] = digits[Int(byte & 15)]
            }
            return 2 * bytes.count
        }
    }

    /// Returns the bytes, or nil unless the text is an even number of hexadecimal digits.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: characters.count, by: 2) {
            guard let high = value(characters[index]), let low = value(characters[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    package static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    package static let digits = Array("0123456789abcdef".utf8)
}

/// Returns the number of bytes before the zero that ends a C string. `strlen` returns Int or UInt, depending on the system.
package func byteCount(ofText start: UnsafePointer<CChar>) -> Int {
    var count = 0
    while start[count] != 0 { count += 1 }
    return count
}

extension String {
    /// Creates a string, or nil if the bytes aren't valid UTF-8, as `String(validating:as:)` does starting with iOS 18.
    package init?(strictUTF8 bytes: some Collection<UInt8>) {
        let text = bytes.withContiguousStorageIfAvailable(String.init(strictUTF8:))
        guard let text = text ?? Array(bytes).withUnsafeBufferPointer(String.init(strictUTF8:)) else { return nil }
        self = text
    }

    package init?(strictUTF8 bytes: UnsafeBufferPointer<UInt8>) {
        // Invalid UTF-8 is replaced by U+FFFD, whose own three bytes make the result differ.
        var text = String(decoding: bytes, as: UTF8.self)
        let isSame = text.withUTF8 { text in
            guard text.count == bytes.count, let one = text.baseAddress, let other = bytes.baseAddress else {
                return text.isEmpty && bytes.isEmpty
            }
            return memcmp(one, other, bytes.count) == 0
        }
        guard isSame else { return nil }
        self = text
    }
}

extension String {
    /// Whether both texts have the same bytes. For `==`, canonically equivalent texts are equal, and comparing hostile ones
    /// takes time that grows with the square of their length.
    package func hasBytes(of other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}

extension String {
    /// Returns the longest start of the text that fits into this many bytes of UTF-8, cut between characters.
    package func prefix(byteCount: Int) -> String {
        guard utf8.count > byteCount else { return self }
        var end = startIndex
        while end < endIndex, utf8.distance(from: startIndex, to: index(after: end)) <= byteCount {
            end = index(after: end)
        }
        // If even the first character is too long, as with hundreds of marks, cut between its scalars.
        guard end == startIndex else { return String(self[..<end]) }
        while end < endIndex, utf8.distance(from: startIndex, to: unicodeScalars.index(after: end)) <= byteCount {
            end = unicodeScalars.index(after: end)
        }
        return String(self[..<end])
    }
}

extension RawRepresentable<String> where Self: CaseIterable {
    /// Returns the case with this raw value, byte for byte; nil if there is none. For text of any length.
    package init?(untrusted text: String) {
        guard let known = Self.allCases.first(where: { $0.rawValue.hasBytes(of: text) }) else { return nil }
        self = known
    }
}

extension Collection<UInt8> {
    /// Whether a text begins with U+FEFF, which Windows editors write. Source: RFC 8259, 8.1: it may be ignored.
    package var hasByteOrderMark: Bool { starts(with: [0xef, 0xbb, 0xbf]) }

    package var withoutByteOrderMark: SubSequence { dropFirst(hasByteOrderMark ? 3 : 0) }
}

extension BidirectionalCollection<UInt8> {
    /// The bytes without the spaces, tabs, and line ends around them.
    package var trimmingSpace: SubSequence {
        let isSpace = { (byte: UInt8) in Array(" \t\r\n".utf8).contains(byte) }
        let start = drop(while: isSpace)
        return start[..<(start.lastIndex { !isSpace($0) }.map(start.index(after:)) ?? start.endIndex)]
    }
}

/// Classes of ASCII characters. Bytes of 128 and above belong to none.
extension UInt8 {
    package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    package var isCapital: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }
    package var isSmallLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
    package var isLetter: Bool { isCapital || isSmallLetter }

    /// Lowercase letters, digits, and hyphens: the characters of a lowercase host name's labels.
    package var isOfLabel: Bool { isSmallLetter || isDigit || self == UInt8(ascii: "-") }
    /// Letters, digits, hyphens, and dots: the characters of a host name or bundle ID.
    package var isOfHostName: Bool { isLetter || isOfLabel || self == UInt8(ascii: ".") }
    /// Those characters and underscores: the characters of a name that is safe as a path component.
    package var isOfFileName: Bool { isOfHostName || self == UInt8(ascii: "_") }
}

/// Text for terminals and line-based tools: no character in it moves a cursor, changes the text's direction, or ends a line.
package enum TerminalText {
    /// Returns the JSON with such characters in strings as `\\u` escapes, which doesn't change its meaning.
    package static func json(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar), scalar.value > 0x1f {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Returns the text with a space in place of each such character.
    package static func printable(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { isUnsafe($0) ? " " : $0 }))
    }

    /// Control characters (C0, DEL, C1), separators of lines and paragraphs, direction characters (including ALM, LRM, and
    /// RLM), annotations, and tag characters, which can hide a whole text. Excludes ideographic selectors, which names use.
    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1f, 0x7f...0x9f, 0x61c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x206f, 0xfeff, 0xfff9...0xfffb,
            0xe0000...0xe00ff, 0xe01f0...0xe0fff:
            true
        default: false
        }
    }
}

/// ISO/IEC 7816-4 padding: 0x80, then zeros.
package enum Padding {
    /// Returns the number of bytes before the padding; nil if there is no 0x80, or no content before it. Works on
    /// opened plaintext whose tag was valid, so its time may depend on the padding.
    package static func contentByteCount(of padded: UnsafeRawBufferPointer) -> Int? {
        guard let mark = padded.lastIndex(where: { $0 != 0 }), padded[mark] == 0x80, mark > 0 else { return nil }
        return mark
    }

    /// Fills everything after the first `contentByteCount` bytes with padding; there must be room for at least one byte.
    package static func pad(_ buffer: UnsafeMutableRawBufferPointer, contentByteCount: Int) {
        precondition(contentByteCount < buffer.count, "padding needs at least one byte")
        buffer[contentByteCount] = 0x80
        UnsafeMutableRawBufferPointer(rebasing: buffer[(contentByteCount + 1)...])
            .initializeMemory(as: UInt8.self, repeating: 0)
    }
}
