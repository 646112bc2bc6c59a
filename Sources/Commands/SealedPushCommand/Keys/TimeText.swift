internal import PushKeyring
internal import SealedPush

/// Times in words.
enum TimeText {
    /// A time span in its largest whole unit: `3 days`.
    static func span(_ seconds: Int64) -> String { seconds < 60 ? "just now" : words(seconds, unitCount: 1) }

    /// A time span in its two largest units, without its sign: `3 days 4 hours`.
    static func longSpan(_ seconds: Int64) -> String { words(seconds, unitCount: 2) }

    private static func words(_ seconds: Int64, unitCount: Int) -> String {
        var rest = seconds.magnitude
        var words: [String] = []
        for (unit, length) in [("day", UInt64(86_400)), ("hour", 3_600), ("minute", 60), ("second", 1)]
        where words.count < unitCount {
            let count = rest / length
            rest %= length
            if count > 0 { words.append("\(count) \(unit)\(count == 1 ? "" : "s")") } else if !words.isEmpty { break }
        }
        return words.isEmpty ? "0 seconds" : words.joined(separator: " ")
    }

    static func day(_ moment: Timestamp) -> String { String(moment.iso8601.prefix(10)) }

    /// `2026-01-31 12:00 UTC`
    static func minute(_ moment: Timestamp) -> String { clock(moment, characterCount: 5) }

    /// `2026-01-31 12:00:00 UTC`
    static func second(_ moment: Timestamp) -> String { clock(moment, characterCount: 8) }

    private static func clock(_ moment: Timestamp, characterCount: Int) -> String {
        let text = moment.iso8601
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(characterCount)) UTC"
    }
}
