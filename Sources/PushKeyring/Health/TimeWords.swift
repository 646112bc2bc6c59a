internal import SealedPush

/// Times as people read them.
enum TimeWords {
    static func day(_ moment: Timestamp) -> String { String(moment.iso8601.prefix(10)) }

    /// `2026-01-31 12:00:00 UTC`
    static func moment(_ moment: Timestamp) -> String {
        let text = moment.iso8601
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8)) UTC"
    }

    /// In the two largest units: `3 days 4 hours`. The sign is left out.
    static func span(_ seconds: Int64) -> String {
        var rest = seconds.magnitude
        var words: [String] = []
        for (unit, length) in units where words.count < 2 {
            let count = rest / length
            rest %= length
            if count > 0 { words.append("\(count) \(unit)\(count == 1 ? "" : "s")") } else if !words.isEmpty { break }
        }
        return words.isEmpty ? "0 seconds" : words.joined(separator: " ")
    }

    private static let units: [(String, UInt64)] = [("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)]
}
