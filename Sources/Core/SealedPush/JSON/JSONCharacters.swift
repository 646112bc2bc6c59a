/// The characters of a JSON string that need an escape, and those that don't.
package enum JSONCharacters {
    /// Returns the index of the first byte that needs an escape, or the end. Checks eight bytes per step.
    /// Source: RFC 8259 section 7; Hacker's Delight, chapter 6.
    package static func endOfPlain(_ characters: UnsafeRawBufferPointer, from start: Int) -> Int {
        let (ones, tops): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        var index = start
        while index + 8 <= characters.count {
            let word = UInt64(littleEndian: characters.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let quote = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
            let backslash = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
            let special = (word &- ones &* 0x20) & ~word | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
            // The lowest mark is correct; those above it may come from a borrow.
            if special & tops != 0 { return index + (special & tops).trailingZeroBitCount / 8 }
            index += 8
        }
        while index < characters.count, escapedByteCount(of: characters[index]) == 1 { index += 1 }
        return index
    }

    /// Returns the number of bytes that a UTF-8 byte takes inside a JSON string.
    package static func escapedByteCount(of byte: UInt8) -> Int {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x08, 0x09, 0x0a, 0x0c, 0x0d: 2
        case 0..<0x20: 6
        default: 1
        }
    }
}
