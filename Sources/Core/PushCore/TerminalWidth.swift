/// The number of columns that text occupies in a terminal, for tables. Emoji and East Asian wide characters take two, and
/// marks on a letter take none.
package enum TerminalWidth {
    package static func columns(of text: String) -> Int { text.reduce(0) { $0 + columns(of: $1) } }

    /// Returns the text, never cut, with spaces up to the given width.
    package static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - columns(of: text)))
    }

    /// Returns each row as a line, with columns as wide as their widest text and two spaces between them.
    package static func aligned(_ rows: [[String]]) -> [String] {
        let columnCount = rows.map(\.count).max() ?? 0
        let widths = (0..<columnCount).map { column in
            rows.map { $0.indices.contains(column) ? columns(of: $0[column]) : 0 }.max() ?? 0
        }
        return rows.map { row in
            // Columns without text at the end of a row leave no spaces behind.
            let end = (row.lastIndex { !$0.isEmpty } ?? -1) + 1
            let cells = zip(row[..<end], widths).enumerated().map { index, cell in
                index == end - 1 ? cell.0 : padded(cell.0, to: cell.1)
            }
            return cells.joined(separator: "  ")
        }
    }

    package static func columns(of character: Character) -> Int {
        let scalars = character.unicodeScalars
        if scalars.first?.properties.isEmojiPresentation == true || scalars.contains("\u{fe0f}") { return 2 }
        // A cluster can contain several letters, as in Devanagari.
        return scalars.reduce(0) { $0 + columns(of: $1) }
    }

    private static func columns(of scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: break
        }
        // The second and third parts of a Korean syllable are drawn into the first.
        if scalar.properties.isDefaultIgnorableCodePoint || (0x1160...0x11ff).contains(scalar.value) { return 0 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// The wide blocks of Unicode Standard Annex 11, without emoji.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115f, 0x2329...0x232a, 0x2e80...0x303e, 0x3041...0x4dbf, 0x4e00...0xa4cf, 0xa960...0xa97c,
        0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6b, 0xff01...0xff60, 0xffe0...0xffe6,
        0x16fe0...0x18d08, 0x1aff0...0x1b2fb, 0x1f200...0x1f265, 0x20000...0x3fffd,
    ]
}
