internal import PushCore

/// A text with placeholders, `{{name}}` or `{{name|fallback}}`. It's parsed once and filled once, so that no value is read
/// as a placeholder. Source: ContentParts 17.2.
struct TextTemplate: Hashable, Sendable {
    private let parts: [Part]

    private enum Part: Hashable, Sendable {
        case text(Substring)
        case placeholder(name: Substring, fallback: Substring?)
    }

    /// Parses any text, and keeps whatever isn't a placeholder. One pass, in time proportional to the text's length.
    init(_ text: String) {
        var parts: [Part] = []
        var (kept, opening) = (text.startIndex, nil as String.Index?)
        let bytes = text.utf8
        var index = text.startIndex
        while index < text.endIndex {
            let next = bytes.index(after: index)
            let isDouble = next < text.endIndex && bytes[next] == bytes[index]
            if isDouble, bytes[index] == UInt8(ascii: "{") { opening = index }
            guard isDouble, bytes[index] == UInt8(ascii: "}"), let start = opening else {
                index = next
                continue
            }
            let end = bytes.index(after: next)
            // The last opening before the end counts, as in `{{{name}}`.
            if let placeholder = Self.placeholder(text[bytes.index(start, offsetBy: 2)..<index]) {
                parts += [.text(text[kept..<start]), placeholder]
                kept = end
            }
            (index, opening) = (end, nil)
        }
        self.parts = parts + [.text(text[kept...])]
    }

    /// Returns nil if a placeholder has neither a value nor a fallback.
    func filled(maximumByteCount: Int, _ value: (String) -> String?) -> String? {
        var text = ""
        for part in parts {
            switch part {
            case .text(let piece): text += piece
            case .placeholder(let name, let fallback):
                guard let piece = value(String(name)) ?? fallback.map(String.init) else { return nil }
                text += piece
            }
            guard text.utf8.count <= maximumByteCount else { return Self.cut(text, to: maximumByteCount) }
        }
        return text
    }

    /// The size of the longest text that is shown, in bytes.
    static let maximumByteCount = 8_192

    /// Cuts a text at a grapheme boundary, with an ellipsis.
    static func cut(_ text: String, to byteCount: Int) -> String {
        guard text.utf8.count > byteCount else { return text }
        var kept = ""
        var count = "…".utf8.count
        for character in text {
            count += character.utf8.count
            guard count <= byteCount else { break }
            kept.append(character)
        }
        return kept + "…"
    }

    private static func placeholder(_ inner: Substring) -> Part? {
        let name = inner[..<(inner.utf8.firstIndex(of: UInt8(ascii: "|")) ?? inner.endIndex)]
        guard isName(name) else { return nil }
        let fallback = name.endIndex == inner.endIndex ? nil : inner[inner.utf8.index(after: name.endIndex)...]
        return .placeholder(name: name, fallback: fallback)
    }

    /// Whether a name is 1 to 64 characters from `A` to `Z`, `a` to `z`, digits, `.`, `-`, and `_`.
    static func isName(_ name: some StringProtocol) -> Bool {
        (1...64).contains(name.utf8.count) && name.utf8.allSatisfy(\.isOfFileName)
    }
}
