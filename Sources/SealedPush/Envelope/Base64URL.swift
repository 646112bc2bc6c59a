/// base64url without padding (RFC 4648 section 5), strictly: one text for each byte string.
package enum Base64URL {
    /// How many characters `byteCount` bytes take.
    package static func textByteCount(of byteCount: Int) -> Int { (byteCount * 4 + 2) / 3 }

    /// The most bytes that fit into this many characters.
    package static func byteCount(fitting textByteCount: Int) -> Int { textByteCount * 3 / 4 }

    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the text of `bytes` to a buffer.
    package static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        let start = text.count
        text.append(contentsOf: repeatElement(0, count: textByteCount(of: bytes.count)))
        alphabet.withUTF8Buffer { alphabet in
            bytes.withUnsafeBufferPointer { bytes in
                text.withUnsafeMutableBufferPointer { text in
                    var place = start
                    var index = 0
                    while index + 2 < bytes.count {
                        let group =
                            UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
                        text[place] = alphabet[Int(group >> 18)]
                        text[place + 1] = alphabet[Int(group >> 12 & 63)]
                        text[place + 2] = alphabet[Int(group >> 6 & 63)]
                        text[place + 3] = alphabet[Int(group & 63)]
                        index += 3
                        place += 4
                    }
                    guard index < bytes.count else { return }
                    let second = index + 1 < bytes.count ? UInt32(bytes[index + 1]) : 0
                    let group = UInt32(bytes[index]) << 16 | second << 8
                    text[place] = alphabet[Int(group >> 18)]
                    text[place + 1] = alphabet[Int(group >> 12 & 63)]
                    if index + 1 < bytes.count { text[place + 2] = alphabet[Int(group >> 6 & 63)] }
                }
            }
        }
    }

    /// Nil for any character outside the alphabet, padding, white space, an impossible length, or a last character
    /// whose unused bits are not zero.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount(fitting: text.count))
        var group: UInt32 = 0
        var bitCount: UInt32 = 0
        let values = values
        for character in text {
            let value = values[Int(character)]
            guard value < 64 else { return nil }
            group = group << 6 | UInt32(value)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: group >> bitCount))
                group &= (1 << bitCount) - 1
            }
        }
        return group == 0 ? bytes : nil
    }

    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xff, count: 256)
        alphabet.withUTF8Buffer { alphabet in
            for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        }
        return values
    }()
}
