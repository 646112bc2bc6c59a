/// Members that look misspelled. Unknown names are allowed, so this is a warning, never an error. Source:
/// Specification 4.9.
extension Content {
    /// Returns the paths of unknown members whose names resemble a known one's, such as `alert.titel`: first those of the
    /// content, then those of its alert, each in their original order.
    package static func suspectMembers(in members: JSONMembers) -> [String] {
        let alert = members.value(of: "alert")?.members?.names ?? []
        return members.names.filter { isSuspect($0, among: knownKeys) }
            + alert.filter { isSuspect($0, among: alertKeys) }.map { "alert.\($0)" }
    }

    /// Returns a warning that names the member, which differs from a known name by at most one letter.
    package static func warning(of suspect: String) -> String {
        "\"\(suspect)\" is not a known member and looks misspelled"
    }

    private static let alertKeys: Set<String> = [
        "title", "subtitle", "body", "title-loc-key", "title-loc-args", "subtitle-loc-key", "subtitle-loc-args",
        "loc-key",
        "loc-args",
    ]

    private static func isSuspect(_ name: String, among known: Set<String>) -> Bool {
        guard !known.contains(name), name.utf8.count <= 64 else { return false }
        let letters = folded(name)
        return known.contains { key in
            let key = folded(key)
            return letters == key || key.count >= 4 && isOneEdit(letters, key)
        }
    }

    /// Returns the name without hyphens and underscores, in lowercase ASCII.
    private static func folded(_ name: String) -> [UInt8] {
        name.utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
            .map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
    }

    /// Whether one byte was added, removed, or replaced, or two neighbors were swapped.
    private static func isOneEdit(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        let start = zip(a, b).prefix { $0 == $1 }.count
        let (a, b) = (a.dropFirst(start), b.dropFirst(start))
        let end = zip(a.reversed(), b.reversed()).prefix { $0 == $1 }.count
        let (x, y) = (Array(a.dropLast(end)), Array(b.dropLast(end)))
        return max(x.count, y.count) == 1 || x.count == 2 && x == y.reversed()
    }
}
