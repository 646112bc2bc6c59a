internal import GRDB

/// Texts that other rows reference by number: carriers and senders' public keys. There are few, and they are never removed.
enum NameTable: String {
    case carriers
    case senders

    /// Returns the number of a text, or `nil` if it was never used.
    func id(of name: String, in db: Database) throws -> Int64? {
        try db.value("SELECT id FROM \(rawValue) WHERE name = ?", [name])
    }

    /// Returns the number of a text, and inserts the row if there is none.
    func id(making name: String, in db: Database) throws -> Int64 {
        if let id = try id(of: name, in: db) { return id }
        try db.run("INSERT INTO \(rawValue)(name) VALUES (?)", [name])
        return db.lastInsertedRowID
    }
}
