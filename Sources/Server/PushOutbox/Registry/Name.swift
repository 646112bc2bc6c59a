import SealedPush

/// A name compared by its bytes, as databases and codes do. Swift strings are equal if they are canonically equivalent.
struct Name: Hashable {
    let text: String
    static let maximumByteCount = 128

    init?(_ text: String) {
        guard (1...Self.maximumByteCount).contains(text.utf8.count), VisibleText.isVisible(text),
            // Control characters. Every delivery reads names, so this doesn't ask Unicode's tables.
            !text.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7f...0x9f).contains($0.value) }),
            // A name can be a segment of a path, and URL parsers remove these two, even if they are escaped.
            text != ".", text != ".."
        else { return nil }
        self.text = text
    }

    static func == (first: Name, second: Name) -> Bool { first.text.utf8.elementsEqual(second.text.utf8) }

    func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }

    static func usable<Value>(_ name: Value?) -> Value {
        guard let name else { preconditionFailure("a user's or device's name must have 1 to 128 visible bytes") }
        return name
    }
}
