extension String {
    /// The text that these bytes are; nil where they are not UTF-8.
    ///
    /// `String(validating:as:)` does the same, from iOS 18 on.
    package init?(strictUTF8 bytes: some Collection<UInt8>) {
        let text = bytes.withContiguousStorageIfAvailable(String.init(strictUTF8:))
        guard let text = text ?? Array(bytes).withUnsafeBufferPointer(String.init(strictUTF8:)) else { return nil }
        self = text
    }

    private init?(strictUTF8 bytes: UnsafeBufferPointer<UInt8>) {
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
