internal import GRDB

/// What stands in a column. GRDB's subscripts end the program where a value is not of the type that is asked for, as in a file
/// that is damaged or was written by another program; these throw, and the outbox is `damaged`.
extension Row {
    func value<Value: DatabaseValueConvertible>(_ column: String) throws -> Value { try decode(forColumn: column) }

    func value<Value: DatabaseValueConvertible>(at index: Int) throws -> Value { try decode(atIndex: index) }

    /// A number of things: 0 to 2^40, so that no sum of such numbers is too large.
    func count(_ column: String) throws -> Int { Self.bounded(try value(column)) }

    func count(at index: Int) throws -> Int { Self.bounded(try value(at: index)) }

    private static func bounded(_ count: Int) -> Int { Swift.min(Swift.max(count, 0), 1 << 40) }
}
