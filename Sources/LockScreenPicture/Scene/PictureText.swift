/// Text for a picture: what moves no cursor, and no more of it than a phone could show.
enum PictureText {
    /// One line: line breaks are spaces.
    static func line(_ text: String) -> String { cleaned(text, lineBreak: " ") }

    /// Line breaks of all kinds are `\n`.
    static func lines(_ text: String) -> String { cleaned(text, lineBreak: "\n") }

    private static func cleaned(_ text: String, lineBreak: Unicode.Scalar) -> String {
        var scalars = String.UnicodeScalarView()
        var marks = 0
        var previous: Unicode.Scalar = " "
        for scalar in text.unicodeScalars.prefix(maximumScalarCount) {
            defer { previous = scalar }
            switch scalar.value {
            case 0x0a where previous == "\r": continue
            case 0x0a, 0x0d, 0x85, 0x2028, 0x2029: scalars.append(lineBreak)
            case 0...0x1f, 0x7f...0x9f, 0xfeff, 0xfff9...0xfffb, 0xe000...0xf8ff: scalars.append(" ")
            default:
                // Nobody reads the tenth accent on one letter, and each makes the line taller.
                let category = scalar.properties.generalCategory
                marks = category == .nonspacingMark || category == .enclosingMark ? marks + 1 : 0
                if marks <= 8 { scalars.append(scalar) }
            }
        }
        return String(scalars)
    }

    /// Four lines of a phone have some two hundred.
    private static let maximumScalarCount = 1_500
}
