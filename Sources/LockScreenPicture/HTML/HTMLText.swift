/// Text that is nothing but text, wherever it stands in a page.
enum HTMLText {
    /// Everything that HTML gives a meaning, and everything that can't be seen but acts, becomes a character reference.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x0a: escaped += "\n"
            // References to control characters mean nothing good either.
            case 0...0x1f, 0x7f...0x9f: escaped += " "
            case 0x26, 0x3c, 0x3e, 0x22, 0x27, 0x60: escaped += "&#\(scalar.value);"
            default:
                switch scalar.properties.generalCategory {
                case .format, .lineSeparator, .paragraphSeparator: escaped += "&#\(scalar.value);"
                default: escaped.unicodeScalars.append(scalar)
                }
            }
        }
        return escaped
    }
}
