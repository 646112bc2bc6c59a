#if Postgres
    import PushOutbox
    import PushCore

    extension PostgresStore {
        /// Where the rows of devices in `queues` lie, by device, which are ours from now until the transaction's end.
        ///
        /// - Parameters:
        ///   - condition: of those that are wanted.
        ///   - skipsLocked: passes over what others hold, rather than waiting for it.
        static func lockQueues(
            of devices: [Int64], where condition: String = "true", skipsLocked: Bool = false, _ db: PostgresConnection
        ) throws(OutboxError) -> [Int64: Int64] {
            guard !devices.isEmpty else { return [:] }
            let lock = "FOR UPDATE \(skipsLocked ? "SKIP LOCKED" : "")"
            return try places(db.rows(living("ctid AS place", where: condition, lock), [.ints(devices.sorted())]))
        }

        /// Asks for the rows of the devices `$1`. Each is looked for in the index, however many they are; both generations in one
        /// condition, which still holds for a row that is moved from one to the other while its lock is waited for.
        ///
        /// - Parameter end: a lock; without one, `OFFSET 0`. Either keeps the server from asking for the device alone, first,
        ///   which walks through the index of all generations: it does with statistics from a moment in which little waited.
        static func living(_ column: String, where condition: String = "true", _ end: String = "OFFSET 0") -> String {
            """
            SELECT q.* FROM unnest($1::bigint[]) AS x(device), sealed_push.generations AS n, LATERAL (
                SELECT device, \(column) FROM sealed_push.queues
                WHERE generation IN (n.current - 1, n.current) AND device = x.device AND \(condition) \(end)) AS q
            """
        }

        static func places(_ rows: PostgresRows) throws(OutboxError) -> [Int64: Int64] {
            let places = try rows.map { row throws(OutboxError) in (try row.int("device"), try row.int("place")) }
            return Dictionary(places, uniquingKeysWith: { first, _ in first })
        }

        /// Begins another generation of rows in `queues`, once in a while; whatever is the matter with the server, the sending finds
        /// it, too.
        func turnIfDue(after leaseCount: Int) async {
            let isDue = takenSinceTurn.withLock { count in
                count += leaseCount
                guard count >= Self.turnInterval else { return false }
                count = 0
                return true
            }
            guard isDue else { return }
            _ = try? await write { db, _ throws(OutboxError) in try Self.turn(db) }
        }

        /// Whether another generation has begun.
        static func turn(_ db: PostgresConnection) throws(OutboxError) -> Bool {
            try db.rows("SELECT sealed_push.turn() AS has_begun").first?.bool("has_begun") ?? false
        }

        private static let turnInterval = 10_000
    }
#endif
