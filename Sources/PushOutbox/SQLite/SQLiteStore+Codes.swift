internal import GRDB

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension SQLiteStore {
    func isProtected() async throws(OutboxError) -> Bool {
        try await read { db in try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM protection)") ?? false }
    }

    func setProtected() async throws(OutboxError) {
        let now = clock.now()
        try await write { db in
            try db.execute(
                sql: "INSERT INTO protection(since) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM protection)",
                arguments: [now])
        }
    }

    func entries(after id: Int64, dead: Bool, limit: Int) async throws(OutboxError) -> [(id: Int64, row: EntryRow)] {
        try await read { db in
            let table = dead ? "dead_letters" : "entries"
            return try Row.fetchAll(
                db,
                sql: """
                    SELECT \(table).id AS number, \(Self.entryColumns) FROM \(table) \(Self.joins)
                    WHERE \(table).id > ? ORDER BY \(table).id LIMIT ?
                    """, arguments: [id, limit]
            ).map { (try $0.value("number"), try Self.entryRow($0)) }
        }
    }

    func setCodes(_ codes: [(id: Int64, code: [UInt8])], dead: Bool) async throws(OutboxError) {
        try await write { db in
            let statement = try db.cachedStatement(
                sql: "UPDATE \(dead ? "dead_letters" : "entries") SET code = ? WHERE id = ?")
            for (id, code) in codes { try statement.execute(arguments: [Data(code), id]) }
        }
    }
}
