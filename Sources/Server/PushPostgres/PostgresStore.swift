#if Postgres
    public import PushOutbox
    internal import PushSender
    internal import PushCore

    /// An outbox in PostgreSQL, for any number of hosts.
    ///
    /// The database's clock decides what is due, for whatever host. Who enqueues, in whichever language, holds the
    /// devices' rows in `queues` until its transaction ends: no courier waits for that, it passes those devices over.
    final class PostgresStore: OutboxStore {
        let clock: OutboxClock
        let pool: PostgresPool
        /// Whether time is a test's own.
        private let isTimeGiven: Bool
        private let waker: PostgresWaker
        /// Below these times, no queue's row was found of late.
        let floors = Locked<[Lane: Floor]>([:])
        /// When a courier may look below them again before it sleeps.
        private let nextWholeLook = Locked(ContinuousClock.Instant.now)
        /// How many leases were taken since the last turn of generations.
        let takenSinceTurn = Locked(0)

        /// - Parameters:
        ///   - clock: for tests, in place of the database's.
        ///   - host: this host's, where the database's is used.
        ///   - patience: how long a call goes on trying where the server is away.
        init(
            _ address: PostgresAddress, clock: OutboxClock? = nil, host: OutboxClock = .system, patience: Duration,
            onWait: @escaping @Sendable (String) -> Void = { _ in }
        ) async throws(OutboxError) {
            self.clock = clock ?? host
            isTimeGiven = clock != nil
            pool = PostgresPool(address, patience: patience, onWait: onWait)
            waker = PostgresWaker(address)
            try await pool.requireSessions()
            try await pool.connected(PostgresSchema.make)
        }

        func mark() async throws(OutboxError) -> [UInt8]? {
            try await read { db, _ throws(OutboxError) in
                try db.rows("SELECT mark FROM sealed_push.marks").first?.bytes("mark")
            }
        }

        /// Once: the mark stays.
        func setMark(_ mark: [UInt8]) async throws(OutboxError) {
            _ = try await write { db, _ throws(OutboxError) in
                try db.rows(
                    "INSERT INTO sealed_push.marks SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM sealed_push.marks)",
                    [.bytes(mark)])
            }
        }

        /// A transaction, and the time in it.
        func write<Answer: Sendable>(
            _ body: @escaping @Sendable (PostgresConnection, Int64) throws(OutboxError) -> Answer
        ) async throws(OutboxError) -> Answer {
            try await pool.transaction(isReadOnly: false, at: givenTime, body)
        }

        /// The same for what is only read, from one snapshot.
        func read<Answer: Sendable>(
            _ body: @escaping @Sendable (PostgresConnection, Int64) throws(OutboxError) -> Answer
        ) async throws(OutboxError) -> Answer {
            try await pool.transaction(isReadOnly: true, at: givenTime, body)
        }

        private var givenTime: Int64? { isTimeGiven ? clock.now() : nil }

        /// Whether both clocks, the database's and this host's, say that it is about now. Where they don't, one of them
        /// is wrong, and nothing is thrown away by it.
        func isCertain(_ now: Int64) -> Bool { isTimeGiven || abs(now - clock.now()) < Self.clockTolerance }

        /// Milliseconds.
        private static let clockTolerance: Int64 = 300_000

        func rest(for duration: Duration, by carrier: Carrier) async {
            guard !isTimeGiven else { return await clock.sleep(duration) }
            await waker.rest(for: duration, by: carrier) { limit in
                let start = ContinuousClock.now
                let isWhole = start >= self.nextWholeLook.withLock { $0 }
                let floors = isWhole ? [:] : self.floors.withLock { $0 }
                let limit = isWhole ? limit : min(limit, .seconds(1))
                let time = try? await self.timeUntilDue(by: carrier, above: floors, within: limit)
                if isWhole {
                    self.nextWholeLook.withLock { $0 = Floor.nextWholeLook(after: start) }
                    // What was enqueued long before its transaction ended is due below the floors.
                    if let time, time <= .zero { self.floors.withLock { $0.removeAll() } }
                }
                return time ?? limit
            }
        }
    }

    extension Outbox {
        /// Opens an outbox in PostgreSQL, or makes it: a schema `sealed_push` in the database that the address names.
        ///
        /// - Parameters:
        ///   - address: `postgres://USER@HOST/DATABASE?sslrootcert=FILE`, as all of PostgreSQL's tools take it, without a
        ///     password: that comes from `PGPASSWORD` or a file that `PGPASSFILE` names. Beyond this machine, the server's
        ///     certificate is checked (`verify-full`), unless `sslmode` demands something else.
        ///   - patience: how long a call goes on trying where the server is away. A restart takes seconds, a failover
        ///     up to a minute.
        ///   - key: what vouches for the rows, which an empty outbox has from then on; nil for one without.
        /// - Throws: `connection`, `unreachable`, `foreign`, `otherSchema`, `notPermitted`.
        public convenience init(
            postgres address: String, patience: Duration = .seconds(60), key: OutboxKey? = nil
        ) async throws(OutboxError) {
            self.init(try await PostgresStore(PostgresAddress(parsing: address), patience: patience), key: key)
        }

        /// - Parameters:
        ///   - clock: for tests, in place of the database's.
        ///   - onWait: called once for each time in which the server is away for two seconds, with the reason.
        package convenience init(
            postgres address: String, clock: OutboxClock?, patience: Duration = .seconds(60), key: OutboxKey? = nil,
            onWait: @escaping @Sendable (String) -> Void = { _ in }
        ) async throws(OutboxError) {
            self.init(
                try await PostgresStore(
                    PostgresAddress(parsing: address), clock: clock, patience: patience, onWait: onWait), key: key)
        }
    }
#endif
