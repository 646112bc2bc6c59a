internal import PushCore
internal import SealedPush

/// How many columns text takes in a terminal: emoji and East Asian wide characters take two.
enum TextWidth {
    static func columns(of text: String) -> Int { text.reduce(0) { $0 + columns(of: $1) } }

    static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - columns(of: text)))
    }

    static func clipped(_ text: String, to width: Int) -> String {
        columns(of: text) <= width ? text : (wrapped(text, to: width - 1).first ?? "") + "…"
    }

    /// Lines of at most `width` columns, broken at spaces where there are any. Control characters become spaces, so that
    /// no text can move the terminal's cursor.
    static func wrapped(_ text: String, to width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in TerminalText.printable(text).split(separator: " ", omittingEmptySubsequences: true) {
            for piece in pieces(of: String(word), width: width) {
                let candidate = line.isEmpty ? piece : "\(line) \(piece)"
                if columns(of: candidate) <= width {
                    line = candidate
                } else {
                    lines.append(line)
                    line = piece
                }
            }
        }
        if !line.isEmpty { lines.append(line) }
        return lines
    }

    private static func pieces(of word: String, width: Int) -> [String] {
        var pieces: [String] = []
        var piece = ""
        for character in word {
            if columns(of: piece) + columns(of: character) > width {
                pieces.append(piece)
                piece = ""
            }
            piece.append(character)
        }
        return pieces + [piece]
    }

    private static func columns(of character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if first.properties.isEmojiPresentation || character.unicodeScalars.contains("\u{fe0f}") { return 2 }
        if first.properties.generalCategory == .nonspacingMark || first.properties.isDefaultIgnorableCodePoint {
            return 0
        }
        return wide.contains { $0.contains(first.value) } ? 2 : 1
    }

    /// Unicode Standard Annex 11, the wide blocks.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115f, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0x9fff, 0xa000...0xa4cf,
        0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6, 0x20000...0x3fffd,
    ]
}
