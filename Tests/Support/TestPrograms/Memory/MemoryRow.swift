import PushOutbox

/// A row's columns by name: `Int64`, `Int`, `String`, `[UInt8]`, or `Bool`.
struct MemoryRow: OutboxRow, Sendable {
    private let columns: [String: any Sendable]

    /// - Parameter other: A row whose columns are read if this one doesn't have them.
    init(_ columns: [String: (any Sendable)?], beside other: MemoryRow? = nil) {
        self.columns = columns.reduce(into: other?.columns ?? [:]) { $0[$1.key] = $1.value }
    }

    func optionalInt(_ column: String) -> Int64? {
        columns[column] as? Int64 ?? (columns[column] as? Int).map(Int64.init)
    }
    func optionalTextBytes(_ column: String) -> [UInt8]? { (columns[column] as? String)?.bytes }
    func optionalBytes(_ column: String) -> [UInt8]? { columns[column] as? [UInt8] }
    func optionalBool(_ column: String) -> Bool? { columns[column] as? Bool }

    func isSelected(by condition: RowCondition) -> Bool { (try? condition.holds(in: self)) ?? false }
}

extension String {
    /// Texts that look the same have different bytes, as in a database.
    var bytes: [UInt8] { Array(utf8) }
}
