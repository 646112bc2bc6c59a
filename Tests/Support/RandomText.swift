/// Text of any kind: every script, emoji sequences, right-to-left, escapes, controls, combining marks.
public struct RandomText {
    private static let pieces: [String] = [
        "a", "Z", "9", " ", "\"", "\\", "/", "\n", "\t", "\u{1}", "\u{7f}", "é", "e\u{301}", "ß", "ñ", "Ж", "λ", "ק",
        "שלום",
        "مرحبا", "\u{202e}", "नमस्ते", "ไทย", "한", "漢字", "、", "👍", "👍🏽", "👩‍👩‍👧‍👦", "🇩🇪", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "\u{2028}", "\u{feff}",
        "\u{10ffff}", "z\u{335}\u{336}\u{337}", "%", "%@", "%%", "<", "&", "\u{0}",
    ]

    public static func make(pieceCount: Int, using random: inout SeededGenerator) -> String {
        (0..<pieceCount).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
    }
}
