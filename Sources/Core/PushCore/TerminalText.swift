/// Text for terminals and line-based tools: no character in it moves a cursor, changes the text's direction, or ends a line.
package enum TerminalText {
    /// Returns the JSON with such characters in strings as `\\u` escapes, which doesn't change its meaning.
    package static func json(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar), scalar.value > 0x1f {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Returns the text with a space in place of each such character.
    package static func printable(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { isUnsafe($0) ? " " : $0 }))
    }

    /// Control characters (C0, DEL, C1), separators of lines and paragraphs, direction characters (including ALM, LRM, and
    /// RLM), annotations, and tag characters, which can hide a whole text. Excludes ideographic selectors, which names use.
    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1f, 0x7f...0x9f, 0x61c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x206f, 0xfeff, 0xfff9...0xfffb,
            0xe0000...0xe00ff, 0xe01f0...0xe0fff:
            true
        default: false
        }
    }
}
