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
