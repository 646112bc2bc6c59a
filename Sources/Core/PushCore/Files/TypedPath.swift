/// Paths that a person types where a place with a password could be typed by mistake.
package enum TypedPath {
    /// Returns false for text that other tools take for a URL, an address with a user, or a database's keywords, unless it
    /// starts with / or a dot. It may contain a password, so no message may repeat it.
    package static func isPath(_ text: String) -> Bool {
        guard let first = text.first, let last = text.last, !first.isWhitespace, !last.isWhitespace,
            !text.contains("://"), !text.hasPrefix("//")
        else { return false }
        return first == "/" || first == "." || !text.utf8.contains { ":=?@\"'".utf8.contains($0) }
    }
}
