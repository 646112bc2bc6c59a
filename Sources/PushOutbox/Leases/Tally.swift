internal import GRDB

/// How many pushes ended how, by day.
enum Tally {
    static func add(_ outcome: String, _ count: Int = 1, at now: Int64, in db: Database) throws {
        guard count > 0 else { return }
        try db.cachedStatement(
            sql: """
                INSERT INTO tallies(day, outcome, count) VALUES (?, ?, ?)
                ON CONFLICT(day, outcome) DO UPDATE SET count = count + excluded.count
                """
        ).execute(arguments: [now / millisecondsPerDay, outcome, count])
    }

    static let accepted = "accepted"
    static let expired = "expired"
    static func dropped(_ reason: String) -> String { "dropped:\(reason)" }
    static func dead(_ reason: String) -> String { "dead:\(reason)" }

    static let millisecondsPerDay: Int64 = 86_400_000
}
