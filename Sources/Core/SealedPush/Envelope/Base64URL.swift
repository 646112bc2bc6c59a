internal import PushCore

/// base64url without padding (RFC 4648 section 5), strictly: one text for each byte string.
///
/// Keys of files and receipts are written so: neither branches nor indexes depend on what they are, but for whether a
/// text is base64url at all. libsodium reads it. To write a payload's would take it too long: that is done here, eight
/// characters at once, one in each byte of a word, by arithmetic alone.
package enum Base64URL {
    /// How many characters `byteCount` bytes take.
    package static func textByteCount(of byteCount: Int) -> Int { (byteCount * 4 + 2) / 3 }

    /// The most bytes that fit into this many characters.
    package static func byteCount(fitting textByteCount: Int) -> Int { textByteCount * 3 / 4 }

    package static func encode(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes(encode) }

    package static func encode(_ bytes: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: textByteCount(of: bytes.count)) { text in
            write(bytes, to: UnsafeMutableRawBufferPointer(text))
            return text.count
        }
    }

    /// Appends the text of `bytes` to a buffer.
    package static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        let start = text.count
        text.append(contentsOf: repeatElement(0, count: textByteCount(of: bytes.count)))
        bytes.withUnsafeBytes { bytes in
            text.withUnsafeMutableBytes { write(bytes, to: UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
        }
    }

    /// Writes the text of `bytes` into a buffer of its size.
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
            var group: UInt64 = 0
            for offset in 0..<count { group |= UInt64(bytes[index + offset]) << (40 - 8 * UInt64(offset)) }
            let characters = letters(of: group)
            for offset in 0..<textByteCount(of: count) {
                text[place + offset] = UInt8(truncatingIfNeeded: characters >> (56 - 8 * UInt64(offset)))
            }
            index += 6
            place += 8
        }
    }

    /// Nil for any character outside the alphabet, padding, white space, an impossible length, or a last character
    /// whose unused bits are not zero.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        let read = { (text: UnsafeBufferPointer<UInt8>) in Sodium.bytes(fromBase64URL: UnsafeRawBufferPointer(text)) }
        if let bytes = text.withContiguousStorageIfAvailable(read) { return bytes }
        return Array(text).withUnsafeBufferPointer(read)
    }

    /// The characters for eight times six bits.
    private static func letters(of group: UInt64) -> UInt64 {
        var values = (group & 0xffff_ff00_0000) << 8 | group & 0x0000_00ff_ffff
        values = (values & 0x00ff_f000_00ff_f000) << 4 | values & 0x0000_0fff_0000_0fff
        values = (values & 0x0fc0_0fc0_0fc0_0fc0) << 2 | values & 0x003f_003f_003f_003f
        let later = 6 &* atLeast(26, values) &+ 49 &* atLeast(63, values)
        let earlier = 75 &* atLeast(52, values) &+ 13 &* atLeast(62, values)
        return values &+ 0x41 &* ones &+ later &- earlier
    }

    /// 1 in each byte that is so much or more. None is above 127.
    private static func atLeast(_ limit: UInt8, _ bytes: UInt64) -> UInt64 {
        (bytes &+ UInt64(128 - limit) &* ones) >> 7 & ones
    }

    private static let ones: UInt64 = 0x0101_0101_0101_0101
}
