/// Text for a terminal and for tools that read lines: nothing in it moves a cursor, turns a line around or ends one.
package enum TerminalText {
    /// JSON whose strings hold such characters as `\\u` escapes: it means the same.
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

    /// Text that only prints: each such character becomes a space.
    package static func printable(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { isUnsafe($0) ? " " : $0 }))
    }

    /// Control characters (C0, DEL, C1), line and paragraph separators, what sets, isolates or marks a direction (ALM, LRM and
    /// RLM too), annotations, and tag characters, which can hide a whole text. Not the variants of ideographs: names have them.
    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1f, 0x7f...0x9f, 0x61c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x206f, 0xfeff, 0xfff9...0xfffb,
            0xe0000...0xe00ff, 0xe01f0...0xe0fff:
            true
        default: false
        }
    }
}
