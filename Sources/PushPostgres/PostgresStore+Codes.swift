#if Postgres
    import PushOutbox

    extension PostgresStore {
        func isProtected() async throws(OutboxError) -> Bool {
            try await read { db, _ throws(OutboxError) in
                try !db.rows("SELECT 1 AS one FROM sealed_push.protection").isEmpty
            }
        }

        func setProtected() async throws(OutboxError) {
            _ = try await write { db, now throws(OutboxError) in
                try db.rows(
                    """
                    INSERT INTO sealed_push.protection(since)
                    SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM sealed_push.protection)
                    """, [.int(now)])
            }
        }

        func entries(
            after id: Int64, dead: Bool, limit: Int
        ) async throws(OutboxError) -> [(id: Int64, row: EntryRow)] {
            try await read { db, _ throws(OutboxError) in
                let rows = try db.rows(
                    """
                    SELECT e.id, \(Self.rowColumns) FROM sealed_push.\(dead ? "dead_letters" : "entries") e
                    LEFT JOIN sealed_push.devices d ON d.id = e.device LEFT JOIN sealed_push.senders s ON s.id = e.sender
                    WHERE e.id > $1 ORDER BY e.id LIMIT $2
                    """, [.int(id), .int(Int64(limit))])
                return try rows.map { row throws(OutboxError) in (try row.int("id"), try Self.entryRow(row)) }
            }
        }

        /// What no program of ours has written is vouched for by nobody.
        func setCodes(_ codes: [(id: Int64, code: [UInt8])], dead: Bool) async throws(OutboxError) {
            _ = try await write { db, _ throws(OutboxError) in
                try db.rows(
                    """
                    UPDATE sealed_push.\(dead ? "dead_letters" : "entries") e SET code = x.code
                    FROM unnest($1::bigint[], $2::bytea[]) AS x(id, code)
                    WHERE e.id = x.id AND \(PostgresSchema.isWithinBounds("e"))
                    """, [.ints(codes.map(\.id)), .byteArrays(codes.map(\.code))])
            }
        }
    }
#endif
