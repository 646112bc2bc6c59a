#if Postgres
    public import PushOutbox
    internal import _PushBase

    /// Moves an outbox from a file into PostgreSQL: devices, pushes that wait or were refused, idempotency keys, counts.
    ///
    /// Nothing is lost or sent twice by it: from the beginning on nobody can use the file, and before the end nobody can use
    /// the new one. A process that dies in the middle, or finds the server gone, may run it again, and goes on where it was.
    public struct OutboxMove: Sendable {
        private let source: MoveSource
        private let pool: PostgresPool
        /// How many rows are copied in one transaction: with their payloads at most 4 MB.
        package var pageCount = 1_000

        /// Takes the file out of use, and looks at the other end.
        ///
        /// - Parameters:
        ///   - file: stop first whoever uses it: what they do from then on fails.
        ///   - address: as `Outbox(postgres:)` takes it, of the schema's owner; an empty outbox, or none yet.
        /// - Throws: `moved` for a file that was moved elsewhere, `notEmpty`, and what opening either of the two throws. Before
        ///   it throws `notEmpty`, the file is as it was.
        public init(from file: String, toPostgres address: String) async throws(OutboxError) {
            pool = PostgresPool(try PostgresAddress(parsing: address), patience: .seconds(60))
            try await pool.connected { connection throws(OutboxError) in
                do throws(OutboxError) { try PostgresSchema.migrate(connection) } catch {
                    guard error == .moving else { throw error }
                }
            }
            source = try MoveSource(at: file, to: address)
            do throws(OutboxError) { try await begin() } catch {
                if error == .notEmpty { try source.cancel() }
                throw error
            }
        }

        /// Copies what is not there yet, compares every row of both, and hands over.
        ///
        /// - Parameter progress: called with a table's name and how many of its rows were copied, or compared. What it throws
        ///   stops the move, to be run again.
        /// - Returns: how many rows were compared, by table.
        /// - Throws: `damaged` where a row is not as it should be: then nothing was handed over.
        public func run(
            progress: ((String, Int) throws(OutboxError) -> Void)? = nil
        ) async throws(OutboxError) -> [(table: String, rowCount: Int)] {
            if try source.isComplete {
                try await end()
                return []
            }
            for table in MovedTable.all { try await copy(table, progress) }
            var counts: [(table: String, rowCount: Int)] = []
            for table in MovedTable.all { counts.append((table.name, try await compare(table, progress))) }
            try source.complete()
            try await end()
            return counts
        }

        /// The file can be used again, and the other end is empty. Does nothing, and returns false, where the move is complete.
        public func cancel() async throws(OutboxError) -> Bool {
            guard try !source.isComplete else { return false }
            _ = try await pool.transaction { transaction throws(OutboxError) in
                let names = MovedTable.all.map { "sealed_push.\($0.name)" }.joined(separator: ", ")
                return try transaction.connection.script("TRUNCATE \(names); DROP TABLE IF EXISTS sealed_push.move")
                    .count
            }
            try source.cancel()
            return true
        }

        // MARK: The two ends

        private func begin() async throws(OutboxError) {
            let (id, isComplete) = (source.id, try source.isComplete)
            try await pool.transaction { transaction throws(OutboxError) in
                let db = transaction.connection
                if try PostgresSchema.isMoving(db) {
                    let found = try db.rows("SELECT id FROM sealed_push.move").first?.text("id")
                    guard found == id else { throw .notEmpty }
                } else if !isComplete {
                    let tables = MovedTable.all.map { "EXISTS (SELECT 1 FROM sealed_push.\($0.name))" }
                    let rows = try db.rows("SELECT \(tables.joined(separator: " OR ")) AS is_used")
                    guard try rows.first?.bool("is_used") == false else { throw .notEmpty }
                    try db.script("CREATE TABLE sealed_push.move(id text COLLATE \"C\" NOT NULL)")
                    _ = try db.rows("INSERT INTO sealed_push.move(id) VALUES ($1)", [.text(id)])
                }
            }
        }

        /// Once: whoever runs it again afterwards finds an outbox that others write to. A number that a sequence has given is
        /// not given again, whatever became of its row.
        private func end() async throws(OutboxError) {
            let id = source.id
            try await pool.transaction { transaction throws(OutboxError) in
                let db = transaction.connection
                guard try PostgresSchema.isMoving(db),
                    try db.rows("SELECT id FROM sealed_push.move").first?.text("id") == id
                else { return }
                for table in ["senders", "devices", "entries"] {
                    // A dead letter has the number of its entry.
                    let dead = table == "entries" ? ", (SELECT max(id) FROM sealed_push.dead_letters)" : ""
                    try db.script(
                        """
                        SELECT setval('sealed_push.\(table)_id_seq',
                            greatest((SELECT max(id) FROM sealed_push.\(table))\(dead), last_value))
                        FROM sealed_push.\(table)_id_seq
                        """)
                }
                try db.script("DROP TABLE sealed_push.move")
            }
        }

        // MARK: Rows

        private func copy(_ table: MovedTable, _ progress: ((String, Int) throws(OutboxError) -> Void)?)
            async throws(OutboxError)
        {
            let last = try await pool.connected { connection throws(OutboxError) in
                try connection.rows(table.query(order: "DESC", limit: 1)).map(table.values).first
            }
            var key = last?.prefix(table.keyCount)
            var count = 0
            while true {
                let rows = try source.rows(of: table, after: key, limit: pageCount)
                guard let newest = rows.last else { return }
                try await pool.transaction { transaction throws(OutboxError) in
                    _ = try transaction.connection.rows(table.insertion, table.arrays(rows))
                }
                key = newest.prefix(table.keyCount)
                count += rows.count
                try progress?(table.name, count)
            }
        }

        private func compare(
            _ table: MovedTable, _ progress: ((String, Int) throws(OutboxError) -> Void)?
        ) async throws(OutboxError) -> Int {
            var key: ArraySlice<MovedValue>?
            var count = 0
            while true {
                let start = key
                let there = try await pool.connected { connection throws(OutboxError) in
                    let parameters = start.map { table.arguments($0) } ?? []
                    let sql = table.query(isAfter: start != nil, order: "ASC", limit: pageCount)
                    return try connection.rows(sql, parameters).map(table.values)
                }
                let here = try source.rows(of: table, after: key, limit: pageCount)
                guard here == there else { throw .damaged }
                guard let newest = here.last else { return count }
                key = newest.prefix(table.keyCount)
                count += here.count
                try progress?(table.name, count)
            }
        }
    }

    extension MovedTable {
        private var names: String { columns.map(\.name).joined(separator: ", ") }

        private func key(_ suffix: String) -> String {
            columns.prefix(keyCount).map { "\($0.name)\(suffix)" }.joined(separator: ", ")
        }

        fileprivate func query(isAfter: Bool = false, order: String, limit: Int) -> String {
            let marks = (1...keyCount).map { "$\($0)" }.joined(separator: ", ")
            return """
                SELECT \(names) FROM sealed_push.\(name) \(isAfter ? "WHERE (\(key(""))) > (\(marks))" : "")
                ORDER BY \(key(" \(order)")) LIMIT \(limit)
                """
        }

        fileprivate var insertion: String {
            let arrays = columns.enumerated().map { "$\($0.offset + 1)::\($0.element.kind.type)[]" }
            // The one column that a file does not have.
            let (more, value) =
                name == "queues" ? (", generation", ", (SELECT current FROM sealed_push.generations)") : ("", "")
            let isNumbered = ["senders", "devices"].contains(name)
            return """
                INSERT INTO sealed_push.\(name)(\(names)\(more)) \(isNumbered ? "OVERRIDING SYSTEM VALUE" : "")
                SELECT \(names)\(value) FROM unnest(\(arrays.joined(separator: ", "))) AS x(\(names))
                """
        }

        /// The rows, column by column.
        fileprivate func arrays(_ rows: [[MovedValue]]) -> [PostgresValue] {
            columns.indices.map { index in
                let values = rows.map { $0[index] }
                return switch columns[index].kind {
                case .int: .ints(values.map(\.int))
                case .bool: .bools(values.map { $0.int != 0 })
                case .text: .texts(values.map(\.text))
                case .bytes: .byteArrays(values.map(\.bytes))
                }
            }
        }

        /// A key, value by value.
        fileprivate func arguments(_ key: ArraySlice<MovedValue>) -> [PostgresValue] {
            key.map { value in
                switch value {
                case .null: .int(nil)
                case .int(let value): .int(value)
                case .text(let value): .text(value)
                case .bytes(let value): .bytes(value)
                }
            }
        }

        fileprivate func values(_ row: PostgresRows.Row) throws(OutboxError) -> [MovedValue] {
            var values: [MovedValue] = []
            for column in columns {
                let value: MovedValue? =
                    switch column.kind {
                    case .int: try row.optionalInt(column.name).map { .int($0) }
                    case .bool: try row.optionalBool(column.name).map { .int($0 ? 1 : 0) }
                    case .text: try row.optionalText(column.name).map { .text($0) }
                    case .bytes: try row.optionalBytes(column.name).map { .bytes($0) }
                    }
                values.append(value ?? .null)
            }
            return values
        }
    }

    extension MovedTable.Kind {
        fileprivate var type: String {
            switch self {
            case .int: "bigint"
            case .bool: "boolean"
            case .text: "text"
            case .bytes: "bytea"
            }
        }
    }

    extension MovedValue {
        fileprivate var int: Int64? { if case .int(let value) = self { value } else { nil } }
        fileprivate var text: String? { if case .text(let value) = self { value } else { nil } }
        fileprivate var bytes: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }
    }
#endif
