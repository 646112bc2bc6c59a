/// How wide text is, about: no backend is asked, so that a chart is laid out the same everywhere.
enum TextMeasure {
    /// In points. Rather too wide than too narrow.
    static func width(_ text: String, size: Double) -> Double {
        size * text.unicodeScalars.reduce(0) { $0 + ems($1) }
    }

    /// The text itself, or as much of its beginning as is no wider than `width` points with an ellipsis.
    static func shortened(_ text: String, size: Double, to width: Double) -> String {
        guard Self.width(text, size: size) > width else { return text }
        var room = width - Self.width(ellipsis, size: size)
        let kept = text.prefix { character in
            room -= Self.width(String(character), size: size)
            return room >= 0
        }
        return kept + ellipsis
    }

    /// What can't be seen, or moves the writing's direction or place, becomes a space; white space is one space.
    static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate, .unassigned, .privateUse:
                " "
            default: directional.contains(scalar.value) ? " " : scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    private static func ems(_ scalar: Unicode.Scalar) -> Double {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch scalar {
        case ".", ",", ":", ";", "'", "i", "j", "l", " ", "|": return 0.34
        case "m", "w", "M", "W", "%": return 0.98
        default: return scalar.value < 0x1100 ? 0.66 : scalar.value < 0x2e80 ? 0.7 : 1.1
        }
    }

    private static let ellipsis = "\u{2026}"
    private static let directional: Set<UInt32> = Set(0x202a...0x202e).union(0x2066...0x2069)
}
