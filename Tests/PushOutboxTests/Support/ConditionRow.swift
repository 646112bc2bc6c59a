import GRDB

@testable import PushOutbox

/// A row with the columns that conditions test.
struct ConditionRow {
    var sendUntil: Int64?
    var reason: String?
    var sender: String?
    var token: [UInt8]?
    var refusal: String?

    /// Returns which rows a condition selects: in memory and in SQLite, or `nil` for a row about which they differ.
    static func selected(_ rows: [Self], by condition: RowCondition) throws -> [Bool?] {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE senders(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
                    CREATE TABLE tested(
                        number INTEGER PRIMARY KEY, send_until INTEGER, reason TEXT, sender INTEGER, token BLOB,
                        token_refusal TEXT
                    ) STRICT
                    """)
            for row in rows {
                let sender = try row.sender.map { try NameTable.senders.id(making: $0, in: db) }
                try db.run(
                    "INSERT INTO tested(send_until, reason, sender, token, token_refusal) VALUES (?, ?, ?, ?, ?)",
                    [row.sendUntil, row.reason, sender, row.token?.blob, row.refusal])
            }
            let (sql, arguments) = condition.sql
            let inSQL = Set(try Int64.fetchAll(db, sql: "SELECT number FROM tested WHERE \(sql)", arguments: arguments))
            let stored = try db.rows(
                """
                SELECT number, send_until, reason, senders.name AS sender, token, token_refusal
                FROM tested LEFT JOIN senders ON id = sender ORDER BY number
                """, [])
            return try stored.map { row in
                let isHeld = try condition.holds(in: row)
                return try inSQL.contains(row.int("number")) == isHeld ? isHeld : nil
            }
        }
    }
}
