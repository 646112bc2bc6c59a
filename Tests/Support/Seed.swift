import Foundation

/// Random numbers that can be had again: the seed is printed, and `SEED` in the environment sets it.
public struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    public init(_ test: String) {
        let given = ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: .min ... .max)
        print("\(test): SEED=\(seed)")
        state = seed
    }

    /// SplitMix64.
    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }
}

/// Text of any kind: every script, emoji sequences, right-to-left, escapes, controls, combining marks.
public struct RandomText {
    private static let pieces: [String] = [
        "a", "Z", "9", " ", "\"", "\\", "/", "\n", "\t", "\u{1}", "\u{7f}", "é", "e\u{301}", "ß", "ñ", "Ж", "λ", "ק", "שלום",
        "مرحبا", "\u{202e}", "नमस्ते", "ไทย", "한", "漢字", "、", "👍", "👍🏽", "👩‍👩‍👧‍👦", "🇩🇪", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "\u{2028}", "\u{feff}",
        "\u{10ffff}", "z\u{335}\u{336}\u{337}", "%", "%@", "%%", "<", "&", "\u{0}",
    ]

    public static func make(pieceCount: Int, using random: inout SeededRandom) -> String {
        (0..<pieceCount).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
    }
}
