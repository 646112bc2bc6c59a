/// What stands in a JSON string as it is, and what needs an escape there.
package enum JSONCharacters {
    /// Where the first byte lies that can't stand in a string as it is, or the end; eight bytes in one step.
    ///
    /// Source: RFC 8259 section 7; Hacker's Delight, chapter 6.
    static func endOfPlain(_ characters: UnsafeRawBufferPointer, from start: Int) -> Int {
        let (ones, tops): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        var index = start
        while index + 8 <= characters.count {
            let word = UInt64(littleEndian: characters.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let quote = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
            let backslash = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
            let special = (word &- ones &* 0x20) & ~word | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
            // The lowest mark is right; those above it may be a borrow's.
            if special & tops != 0 { return index + (special & tops).trailingZeroBitCount / 8 }
            index += 8
        }
        while index < characters.count, escapedByteCount(of: characters[index]) == 1 { index += 1 }
        return index
    }

    /// How many bytes a byte of UTF-8 takes inside a JSON string.
    package static func escapedByteCount(of byte: UInt8) -> Int {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x08, 0x09, 0x0a, 0x0c, 0x0d: 2
        case 0..<0x20: 6
        default: 1
        }
    }
}
