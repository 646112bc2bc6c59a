#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

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
