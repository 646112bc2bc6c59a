internal import GRDB

/// SQL for calculating with stored numbers, which may have been tampered with. SQLite makes a sum that doesn't fit into 64
/// bits a fraction, or refuses it: then one row would stop every caller that adds to it. These results always fit.
enum SafeNumber {
    /// A column plus a small number.
    static func sum(_ column: String, _ addend: String) -> String {
        "min(max(\(column), -\(most)), \(most)) + \(addend)"
    }

    /// The sum of a column of counts over many rows.
    static func total(_ column: String) -> String { "SUM(min(max(\(column), 0), \(1 << 40)))" }

    /// Sets a revision that differs from the previous one.
    static let nextRevision = "revision = abs(devices.revision % \(most)) + 1"

    /// Returns the number of a table's next row: larger than each that a row has had, except for impossible ones. Once a row
    /// has the largest number, AUTOINCREMENT by itself refuses all others.
    static func next(in table: String, in db: Database) throws -> Int64 {
        let last: Int64? = try db.value(
            """
            SELECT MAX(id) FROM (
                SELECT MAX(id) AS id FROM \(table) WHERE id < \(most)
                UNION ALL SELECT seq FROM sqlite_sequence WHERE name = '\(table)' AND seq < \(most))
            """)
        return max(last ?? 0, 0) + 1
    }

    private static let most = 1 << 62
}
