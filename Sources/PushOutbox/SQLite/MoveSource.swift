internal import Foundation
internal import GRDB
internal import _PushBase

/// A value of a row that is moved, the same in both stores.
package enum MovedValue: Hashable, Sendable {
    case null
    case int(Int64)
    case text(String)
    case bytes([UInt8])
}

/// One table of an outbox, as it is copied from a file into another store: row by row, by ascending keys.
package struct MovedTable: Sendable {
    package let name: String
    package let columns: [Column]
    /// How many of the first columns are the key.
    package let keyCount: Int

    package enum Kind: Sendable { case int, bool, text, bytes }

    package struct Column: Sendable {
        /// In the target, and in the file where ``source`` says nothing else.
        package let name: String
        package let kind: Kind
        let source: String

        init(_ name: String, _ kind: Kind, _ source: String? = nil) {
            self.name = name
            self.kind = kind
            self.source = source ?? name
        }
    }

    private init(_ name: String, keyCount: Int = 1, _ columns: Column...) {
        self.name = name
        self.columns = columns
        self.keyCount = keyCount
    }

    /// What stands before it is there before it.
    package static let all = [
        MovedTable("senders", Column("id", .int), Column("key", .text)),
        MovedTable(
            "devices", Column("id", .int), Column("name", .text), Column("user_name", .text, "user"),
            Column("topic", .text), carrier, Column("token", .bytes), Column("token_registered", .int),
            Column("token_refusal", .text), Column("is_proven", .bool), Column("recipient", .text),
            Column("is_verified", .bool), Column("valid_from", .int), Column("valid_until", .int),
            Column("revision", .int), Column("pin_code", .bytes), Column("address_code", .bytes)),
        MovedTable(
            "enrolments", Column("device", .int), Column("enrolment", .text), Column("record", .text),
            Column("proven", .text), Column("code", .bytes)),
        MovedTable("entries", pushes),
        MovedTable("dead_letters", pushes + [Column("reason", .text), Column("attempts", .int), Column("died", .int)]),
        // A lease is not moved: when its time is over, its push is sent again, under the same identifiers.
        MovedTable(
            "queues", Column("device", .int), carrier, Column("priority", .int), Column("due", .int),
            Column("entry", .int), Column("attempts", .int),
            Column(
                "head", .int,
                "(SELECT coalesce(min(e.id), 0) FROM moved_entries e WHERE e.device = moved_queues.device)")),
        MovedTable(
            "requests", Column("key", .bytes), Column("audience", .text), Column("position", .int),
            Column("is_complete", .bool), Column("enqueued", .int), Column("created", .int)),
        MovedTable("ranges", keyCount: 2, Column("key", .bytes), Column("start", .int), Column("last", .int)),
        MovedTable("tallies", keyCount: 2, Column("day", .int), Column("outcome", .text), Column("count", .int)),
        MovedTable(
            "receipt_tallies", keyCount: 2, Column("day", .int), Column("outcome", .text), Column("count", .int)),
        MovedTable(
            "receipt_devices", Column("id", .bytes), Column("last", .int), Column("shown", .int),
            Column("failed", .int), Column("day", .int), Column("shown_that_day", .int), Column("failed_that_day", .int)
        ),
        MovedTable("receipt_numbers", keyCount: 2, Column("id", .bytes), Column("number", .bytes), Column("day", .int)),
        MovedTable(
            "receipt_failures", keyCount: 2, Column("id", .bytes), Column("reason", .text), Column("last", .int)),
        MovedTable("protection", Column("since", .int)),
    ]

    private init(_ name: String, _ columns: [Column]) {
        self.name = name
        self.columns = columns
        keyCount = 1
    }

    private static let carrier = Column(
        "carrier", .text, "(SELECT c.name FROM moved_carriers c WHERE c.id = environment)")
    private static let pushes = [
        Column("id", .int), Column("device", .int), Column("priority", .int), Column("enqueued", .int),
        Column("stale", .int), Column("expiration", .int), Column("apns_id", .text), Column("collapse_id", .text),
        Column("body", .bytes), Column("sender", .int), Column("code", .bytes),
    ]
}

/// A file whose outbox is moved elsewhere. From the beginning on nobody else can use it, also who had it open before: its
/// tables have other names. A process that dies may begin again.
package final class MoveSource: Sendable {
    /// Of this move, for telling it from another.
    package let id: String
    private let queue: DatabaseQueue

    /// - Parameter place: where it is moved to, the same whenever it goes on.
    /// - Throws: `moved` where it was begun to another place; and what opening an outbox throws.
    package init(at path: String, to place: String) throws(OutboxError) {
        // Brings an older file up to date.
        do throws(OutboxError) { _ = try SQLiteStore(at: path, clock: .system, busyLimit: 60) } catch {
            guard case .moved(place) = error else { throw error }
        }
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(60)
            queue = try DatabaseQueue(path: path, configuration: configuration)
            id = try queue.write { db in
                if try db.tableExists("moved") {
                    return try String.fetchOne(db, sql: "SELECT id FROM moved") ?? ""
                }
                let tables = try String.fetchAll(
                    db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
                for table in tables { try db.execute(sql: "ALTER TABLE \(table) RENAME TO moved_\(table)") }
                let id = UUID().uuidString
                try db.execute(
                    sql: """
                        CREATE TABLE moved(id TEXT NOT NULL, place TEXT NOT NULL, is_complete INTEGER NOT NULL) STRICT
                        """)
                try db.execute(sql: "INSERT INTO moved VALUES (?, ?, 0)", arguments: [id, place])
                return id
            }
        } catch { throw OutboxError(error) }
    }

    package var isComplete: Bool {
        get throws(OutboxError) {
            try attempt { try queue.read { try Bool.fetchOne($0, sql: "SELECT is_complete FROM moved") ?? false } }
        }
    }

    /// All is there, and was compared.
    package func complete() throws(OutboxError) {
        try attempt { try queue.write { try $0.execute(sql: "UPDATE moved SET is_complete = 1") } }
    }

    /// Everything as it was before.
    package func cancel() throws(OutboxError) {
        try attempt {
            try queue.write { db in
                let tables = try String.fetchAll(
                    db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'moved!_%' ESCAPE '!'")
                for table in tables { try db.execute(sql: "ALTER TABLE \(table) RENAME TO \(table.dropFirst(6))") }
                try db.execute(sql: "DROP TABLE moved")
            }
        }
    }

    /// The next rows by their keys; from the beginning where `key` is nil.
    package func rows(
        of table: MovedTable, after key: ArraySlice<MovedValue>?, limit: Int
    ) throws(OutboxError) -> [[MovedValue]] {
        let names = table.columns.prefix(table.keyCount).map(\.source).joined(separator: ", ")
        let marks = key.map { _ in
            "WHERE (\(names)) > (\(Array(repeating: "?", count: table.keyCount).joined(separator: ", ")))"
        }
        let sql = """
            SELECT \(table.columns.map(\.source).joined(separator: ", ")) FROM moved_\(table.name) \(marks ?? "")
            ORDER BY \(names) LIMIT \(limit)
            """
        return try attempt {
            try queue.read { db in
                let rows = try Row.fetchCursor(
                    db, sql: sql, arguments: StatementArguments((key ?? []).map(\.databaseValue)))
                var values: [[MovedValue]] = []
                while let row = try rows.next() {
                    values.append(try row.databaseValues.map { try MovedValue($0) })
                }
                return values
            }
        }
    }

    private func attempt<Answer>(_ body: () throws -> Answer) throws(OutboxError) -> Answer {
        do { return try body() } catch { throw OutboxError(error) }
    }
}

extension MovedValue {
    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .int(let value): value.databaseValue
        case .text(let value): value.databaseValue
        case .bytes(let value): Data(value).databaseValue
        }
    }

    fileprivate init(_ value: DatabaseValue) throws {
        switch value.storage {
        case .null: self = .null
        case .int64(let value): self = .int(value)
        case .string(let value): self = .text(value)
        case .blob(let value): self = .bytes(Array(value))
        case .double: throw OutboxError.damaged
        }
    }
}
