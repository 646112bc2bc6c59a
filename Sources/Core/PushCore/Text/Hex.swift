/// Small hexadecimal digits, for public bytes.
package enum Hex {
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil unless the text is an even number of hexadecimal digits.
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

    /// The value of one digit, small or capital.
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

extension String {
    /// The text that these bytes are; nil where they are not UTF-8.
    ///
    /// `String(validating:as:)` does the same, from iOS 18 on.
    package init?(strictUTF8 bytes: some Collection<UInt8>) {
        let text = bytes.withContiguousStorageIfAvailable(String.init(strictUTF8:))
        guard let text = text ?? Array(bytes).withUnsafeBufferPointer(String.init(strictUTF8:)) else { return nil }
        self = text
    }

    /// The same, of bytes in memory.
    package init?(strictUTF8 bytes: UnsafeBufferPointer<UInt8>) {
        // What is not UTF-8 is replaced by U+FFFD, three bytes of its own, so that the bytes differ then.
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
