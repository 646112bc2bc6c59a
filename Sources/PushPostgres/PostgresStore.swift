#if Postgres
    public import PushOutbox
    internal import PushSender
    internal import _PushBase

    /// An outbox in PostgreSQL, for any number of hosts.
    ///
    /// The database's clock decides what is due, for whatever host. Who enqueues, in whichever language, holds the devices' rows
    /// in `queues` until its transaction ends: no courier waits for that, it passes those devices over.
    final class PostgresStore: OutboxStore {
        let clock: OutboxClock
        let pool: PostgresPool
        /// Whether time is a test's own.
        private let isTimeGiven: Bool
        private let waker: PostgresWaker
        /// Below these times, by carrier and lane, no queue's row was found of late.
        let floors = Locked<[String: Floor]>([:])

        /// - Parameters:
        ///   - clock: for tests, in place of the database's.
        ///   - patience: how long a call goes on trying where the server is away.
        init(
            _ address: PostgresAddress, clock: OutboxClock? = nil, patience: Duration
        ) async throws(OutboxError) {
            self.clock = clock ?? .system
            isTimeGiven = clock != nil
            pool = PostgresPool(address, patience: patience)
            waker = PostgresWaker(address)
            try await pool.connected { connection throws(OutboxError) in try PostgresSchema.migrate(connection) }
        }

        /// A transaction, and the time in it.
        func write<Answer: Sendable>(
            _ body: @escaping @Sendable (PostgresConnection, Int64) throws(OutboxError) -> Answer
        ) async throws(OutboxError) -> Answer {
            let given = isTimeGiven ? clock.now() : nil
            return try await pool.transaction { transaction throws(OutboxError) in
                try body(transaction.connection, given ?? transaction.now)
            }
        }

        /// The same for what is only read, from one snapshot.
        func read<Answer: Sendable>(
            _ body: @escaping @Sendable (PostgresConnection, Int64) throws(OutboxError) -> Answer
        ) async throws(OutboxError) -> Answer {
            let given = isTimeGiven ? clock.now() : nil
            return try await pool.reading { transaction throws(OutboxError) in
                try body(transaction.connection, given ?? transaction.now)
            }
        }

        func rest(for duration: Duration, by carrier: Carrier) async {
            guard !isTimeGiven else { return await clock.sleep(duration) }
            let wasWoken = await waker.rest(for: duration) {
                let time: Duration?
                do throws(OutboxError) { time = try await self.timeUntilDue(by: carrier) } catch { return .zero }
                // What was enqueued long before its transaction ended may be due below the floors.
                if let time, time <= .zero { self.forgetFloors() }
                return time
            }
            if wasWoken { forgetFloors() }
        }

        private func forgetFloors() { floors.withLock { $0 = [:] } }
    }

    extension Outbox {
        /// Opens an outbox in PostgreSQL, or makes it: a schema `sealed_push` in the database that the address names.
        ///
        /// - Parameters:
        ///   - address: `postgres://USER@HOST/DATABASE?sslmode=verify-full`, as all of PostgreSQL's tools take it, without a
        ///     password: that comes from `PGPASSWORD` or a file that `PGPASSFILE` names.
        ///   - patience: how long a call goes on trying where the server is away. A restart takes seconds, a failover up to a
        ///     minute.
        /// - Throws: `connection`, `unreachable`, `foreign`, `tooNew`, `notPermitted`.
        public convenience init(postgres address: String, patience: Duration = .seconds(60)) async throws(OutboxError) {
            self.init(try await PostgresStore(PostgresAddress(parsing: address), patience: patience))
        }

        /// - Parameter clock: for tests, in place of the database's.
        package convenience init(
            postgres address: String, clock: OutboxClock?, patience: Duration = .seconds(60)
        ) async throws(OutboxError) {
            self.init(try await PostgresStore(PostgresAddress(parsing: address), clock: clock, patience: patience))
        }
    }
#endif
