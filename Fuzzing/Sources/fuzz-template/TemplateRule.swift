/// Specification 17.2, written a second time, from the back: at each `}}`, what stands behind the last `{{` before it.
enum TemplateRule {
    struct Piece {
        var text: [UInt8]?
        var name: String?
        var inPlace: [UInt8]?
    }

    static func pieces(of bytes: [UInt8]) -> [Piece] {
        var pieces: [Piece] = []
        /// Behind the placeholder before, and behind the last `}}` that was looked at.
        var (kept, seen) = (0, 0)
        while let end = pair("}", in: bytes, from: seen) {
            let openings = (seen..<max(seen, end - 1)).filter { bytes[$0] == 0x7b && bytes[$0 + 1] == 0x7b }
            guard let start = openings.last else {
                seen = end + 1
                continue
            }
            if let placeholder = placeholder(bytes[(start + 2)..<end]) {
                pieces += [Piece(text: Array(bytes[kept..<start])), placeholder]
                kept = end + 2
            }
            seen = end + 2
        }
        return pieces + [Piece(text: Array(bytes[kept...]))]
    }

    private static func pair(_ bracket: Character, in bytes: [UInt8], from start: Int) -> Int? {
        guard let byte = bracket.asciiValue else { return nil }
        return (start..<max(start, bytes.count - 1)).first { bytes[$0] == byte && bytes[$0 + 1] == byte }
    }

    private static func placeholder(_ inner: ArraySlice<UInt8>) -> Piece? {
        let parts = inner.split(separator: UInt8(ascii: "|"), maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(decoding: parts[0], as: UTF8.self)
        guard name.wholeMatch(of: /[A-Za-z0-9._\-]{1,64}/) != nil else { return nil }
        return Piece(name: name, inPlace: parts.count > 1 ? Array(parts[1]) : nil)
    }
}
