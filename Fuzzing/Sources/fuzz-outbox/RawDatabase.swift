import CRawSQLite
import FuzzSupport

/// A SQLite file, written past the outbox.
struct RawDatabase {
    enum Value {
        case null
        case integer(Int64)
        case real(Double)
        case text([UInt8])
        case blob([UInt8])
    }

    typealias Table = (name: String, columns: [String], hasRowID: Bool)

    private let handle: OpaquePointer?

    init(_ path: String) {
        var handle: OpaquePointer?
        demand(sqlite3_open(path, &handle) == SQLITE_OK, "SQLite does not open a good file")
        self.handle = handle
    }

    /// What a table's declaration does not allow is left undone.
    mutating func run(_ sql: String, _ value: Value = .null) {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { fatalError("no SQL: \(sql)") }
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .null: break
        case .integer(let number): sqlite3_bind_int64(statement, 1, number)
        case .real(let number): sqlite3_bind_double(statement, 1, number)
        case .text(let bytes):
            bytes.withUnsafeBytes { bytes in
                _ = sqlite3_bind_text(
                    statement, 1, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count), transient)
            }
        case .blob(let bytes):
            bytes.withUnsafeBytes { _ = sqlite3_bind_blob(statement, 1, $0.baseAddress, Int32($0.count), transient) }
        }
        sqlite3_step(statement)
        sqlite3_finalize(statement)
    }

    func close() { sqlite3_close(handle) }

    /// The tables that are there.
    func tables() -> [Table] {
        texts("SELECT name FROM sqlite_schema WHERE type = 'table'").map { name in
            let isOrdered = texts("SELECT 1 FROM pragma_table_list('\(name)') WHERE wr").isEmpty
            return (name, texts("SELECT name FROM pragma_table_info('\(name)')"), isOrdered)
        }
    }

    /// The first column of each row.
    private func texts(_ sql: String) -> [String] {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { fatalError("no SQL: \(sql)") }
        defer { sqlite3_finalize(statement) }
        var texts: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW { texts.append(String(cString: sqlite3_column_text(statement, 0))) }
        return texts
    }
}
