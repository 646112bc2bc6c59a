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

    /// The outbox's own, and whether their rows have numbers.
    static let tables: [(name: String, columns: [String], hasRowID: Bool)] = [
        (
            "devices",
            [
                "id", "name", "user", "topic", "environment", "token", "token_registered", "token_refusal", "is_proven",
                "recipient", "is_verified", "valid_from", "valid_until", "revision",
            ], true
        ),
        ("enrolments", ["device", "enrolment", "record", "proven"], true),
        (
            "entries",
            [
                "id", "device", "priority", "enqueued", "stale", "expiration", "apns_id", "collapse_id", "body",
                "sender",
            ], true
        ),
        ("queues", ["device", "environment", "priority", "due", "lease", "entry", "attempts"], true),
        (
            "dead_letters",
            [
                "id", "device", "priority", "enqueued", "stale", "expiration", "apns_id", "collapse_id", "body",
                "sender",
                "reason", "attempts", "died",
            ], true
        ),
        ("senders", ["id", "key"], true),
        ("carriers", ["id", "name"], true),
        ("requests", ["key", "audience", "position", "is_complete", "enqueued", "created"], false),
        ("tallies", ["day", "outcome", "count"], false),
        ("receipt_tallies", ["day", "outcome", "count"], false),
        (
            "receipt_devices", ["id", "last", "shown", "failed", "day", "shown_that_day", "failed_that_day"], false
        ),
        ("receipt_numbers", ["id", "number", "day"], false),
        ("receipt_failures", ["id", "reason", "last"], false),
    ]

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
}
