extension String {
    /// The text that these bytes are; nil where they are not UTF-8.
    ///
    /// `String(validating:as:)` does the same, from iOS 18 on.
    package init?(strictUTF8 bytes: some Collection<UInt8>) {
        // What is not UTF-8 is replaced by U+FFFD, three bytes of its own, so that the bytes differ then.
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.elementsEqual(bytes) else { return nil }
        self = text
    }
}
