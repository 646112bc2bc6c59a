internal import GRDB

/// Sender keys as rows, so that each push holds a number only. Public keys; there are few, and they stay.
enum SenderTable {
    /// Makes the row where there is none; nil for an unknown one.
    static func id(making sealedBy: SealedBy, in db: Database) throws -> Int64? {
        if let id = try id(of: sealedBy, in: db) { return id }
        guard sealedBy != .unknown else { return nil }
        try db.cachedStatement(sql: "INSERT INTO senders(key) VALUES (?)").execute(arguments: [sealedBy.description])
        return db.lastInsertedRowID
    }

    /// Nil where nothing was ever sealed by it.
    static func id(of sealedBy: SealedBy, in db: Database) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT id FROM senders WHERE key = ?"), arguments: [sealedBy.description])
    }

    /// How many rows of a table each has sealed; reads an index only.
    static func counts(of table: String, in db: Database) throws -> [SealedBy: Int] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT key, count FROM (
                    SELECT sender, COUNT(*) AS count FROM \(table) INDEXED BY \(table)_by_sender GROUP BY sender)
                LEFT JOIN senders ON senders.id = sender
                """)
        return Dictionary(
            try rows.map { row in
                let key: String? = try row.value("key")
                return (key.flatMap(SealedBy.init(parsing:)) ?? .unknown, try row.count("count"))
            },
            uniquingKeysWith: +)
    }
}
