internal import Foundation
internal import GRDB

/// A statement's row, with the values that SQLite has stored. GRDB's own rows stop the program if a value has an unexpected
/// type, as in a file that is damaged or was written by another program; this one throws. It also finds columns faster:
/// GRDB compares lowercase copies of all names for each value.
struct SQLiteRow: OutboxRow {
    /// Shared by all rows of a statement.
    private let names: [String]
    private let values: [DatabaseValue]

    init(_ row: Row, of statement: Statement) {
        names = statement.columnNames
        values = Array(row.databaseValues)
    }

    func optionalInt(_ column: String) throws(OutboxError) -> Int64? {
        switch try storage(of: column) {
        case .null: return nil
        case .int64(let number): return number
        case .double, .string, .blob: throw .damaged
        }
    }

    func optionalTextBytes(_ column: String) throws(OutboxError) -> [UInt8]? {
        switch try storage(of: column) {
        case .null: return nil
        case .string(let text): return Array(text.utf8)
        // A text that was read as a blob.
        case .blob(let data): return Array(data)
        case .int64, .double: throw .damaged
        }
    }

    func optionalBytes(_ column: String) throws(OutboxError) -> [UInt8]? {
        switch try storage(of: column) {
        case .null: return nil
        case .blob(let data): return Array(data)
        case .int64, .double, .string: throw .damaged
        }
    }

    func optionalBool(_ column: String) throws(OutboxError) -> Bool? { try optionalInt(column).map { $0 != 0 } }

    private func storage(of column: String) throws(OutboxError) -> DatabaseValue.Storage {
        guard let index = names.firstIndex(of: column) else { throw .damaged }
        return values[index].storage
    }
}
