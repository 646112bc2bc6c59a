/// base64url without padding (RFC 4648 section 5), strictly: exactly one text for each byte string.
///
/// Converts eight characters at a time, one per byte of a word, with arithmetic only. File and receipt keys are encoded this
/// way, so neither branches nor indexes depend on the data, except for one branch on whether a text is base64url at all.
package enum Base64URL {
    package static func textByteCount(of byteCount: Int) -> Int { (byteCount * 4 + 2) / 3 }

    /// Returns the maximum number of bytes that fit into this many characters.
    package static func byteCount(fitting textByteCount: Int) -> Int { textByteCount * 3 / 4 }

    package static func encode(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes(encode) }

    package static func encode(_ bytes: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: textByteCount(of: bytes.count)) { text in
            write(bytes, to: UnsafeMutableRawBufferPointer(text))
            return text.count
        }
    }

    package static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        let start = text.count
        text.append(contentsOf: repeatElement(0, count: textByteCount(of: bytes.count)))
        bytes.withUnsafeBytes { bytes in
            text.withUnsafeMutableBytes { write(bytes, to: UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
        }
    }

    package static func write(_ bytes: UnsafeRawBufferPointer, to text: UnsafeMutableRawBufferPointer) {
        precondition(text.count == textByteCount(of: bytes.count))
        var (index, place) = (0, 0)
        while index + 8 <= bytes.count {
            let group = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) >> 16
            text.storeBytes(of: letters(of: group).bigEndian, toByteOffset: place, as: UInt64.self)
            index += 6
            place += 8
        }
        while index < bytes.count {
            let count = min(6, bytes.count - index)
            let group = word(bytes, at: index, count: count) >> 16
            put(letters(of: group), into: text, at: place, count: textByteCount(of: count))
            index += 6
            place += 8
        }
    }

    /// Returns nil for any character outside the alphabet, padding, white space, an impossible length, or a last character
    /// whose unused bits aren't zero.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        if let bytes = text.withContiguousStorageIfAvailable({ decode(UnsafeRawBufferPointer($0)) }) { return bytes }
        return Array(text).withUnsafeBytes { decode($0) }
    }

    private static func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        // All empty arrays share one storage, to which the code below would write.
        guard !text.isEmpty else { return [] }
        var wrong: UInt64 = 0
        let byteCount = byteCount(fitting: text.count)
        let bytes = [UInt8](unsafeUninitializedCapacity: byteCount) { bytes, filledCount in
            var place = 0
            for index in stride(from: 0, to: text.count, by: 8) {
                let count = min(8, text.count - index)
                // Pads the end with `A`, which encodes zeros.
                let characters =
                    word(text, at: index, count: count) | (0x41 * ones) & (count < 8 ? .max >> (8 * UInt64(count)) : 0)
                let (group, unknown) = group(of: characters)
                let used = Self.byteCount(fitting: count)
                wrong |= unknown | group & (.max >> (16 + 8 * UInt64(used)))
                put(group << 16, into: UnsafeMutableRawBufferPointer(bytes), at: place, count: used)
                place += used
            }
            filledCount = byteCount
        }
        return wrong == 0 ? bytes : nil
    }

    /// Returns the characters for eight groups of six bits.
    private static func letters(of group: UInt64) -> UInt64 {
        var values = (group & 0xffff_ff00_0000) << 8 | group & 0x0000_00ff_ffff
        values = (values & 0x00ff_f000_00ff_f000) << 4 | values & 0x0000_0fff_0000_0fff
        values = (values & 0x0fc0_0fc0_0fc0_0fc0) << 2 | values & 0x003f_003f_003f_003f
        let later = 6 &* atLeast(26, values) &+ 49 &* atLeast(63, values)
        let earlier = 75 &* atLeast(52, values) &+ 13 &* atLeast(62, values)
        return values &+ 0x41 &* ones &+ later &- earlier
    }

    /// Returns eight groups of six bits for eight characters. `unknown` is nonzero if any character isn't in the alphabet.
    private static func group(of characters: UInt64) -> (UInt64, unknown: UInt64) {
        let ascii = characters & (0x7f &* ones)
        func isIn(_ first: UInt8, _ last: UInt8) -> UInt64 { atLeast(first, ascii) &- atLeast(last + 1, ascii) }
        let (capital, small, digit) = (isIn(0x41, 0x5a), isIn(0x61, 0x7a), isIn(0x30, 0x39))
        let (hyphen, underscore) = (isIn(0x2d, 0x2d), isIn(0x5f, 0x5f))
        let known = capital &+ small &+ digit &+ hyphen &+ underscore
        let down = 65 &* capital &+ 71 &* small &+ 32 &* underscore
        var values = ascii &+ 4 &* digit &+ 17 &* hyphen &- down
        values = values >> 2 & 0x0fc0_0fc0_0fc0_0fc0 | values & 0x003f_003f_003f_003f
        values = values >> 4 & 0x00ff_f000_00ff_f000 | values & 0x0000_0fff_0000_0fff
        values = values >> 8 & 0xffff_ff00_0000 | values & 0x0000_00ff_ffff
        return (values, (known ^ ones) | (characters ^ ascii))
    }

    /// Returns 1 in each byte that is at least `limit`. No byte may be above 127.
    private static func atLeast(_ limit: UInt8, _ bytes: UInt64) -> UInt64 {
        (bytes &+ UInt64(128 - limit) &* ones) >> 7 & ones
    }

    private static let ones: UInt64 = 0x0101_0101_0101_0101

    /// Returns the bytes starting at this index, the first one in the highest position, with zeros after the last.
    private static func word(_ bytes: UnsafeRawBufferPointer, at index: Int, count: Int) -> UInt64 {
        if index + 8 <= bytes.count {
            let word = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            return count == 8 ? word : word & ~(.max >> (8 * UInt64(count)))
        }
        var word: UInt64 = 0
        for offset in 0..<count { word |= UInt64(bytes[index + offset]) << (56 - 8 * UInt64(offset)) }
        return word
    }

    private static func put(_ word: UInt64, into bytes: UnsafeMutableRawBufferPointer, at place: Int, count: Int) {
        if place + 8 <= bytes.count {
            // The bytes after them are overwritten by the next word.
            return bytes.storeBytes(of: word.bigEndian, toByteOffset: place, as: UInt64.self)
        }
        for offset in 0..<count { bytes[place + offset] = UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64(offset))) }
    }
}
