#if Postgres
public import PushOutbox
internal import PushSender
internal import PushCore

/// An outbox in PostgreSQL, for any number of hosts. The database's clock decides what is due, for every host. A
/// transaction that enqueues, in any language, holds the devices' rows in `queues` until it ends. Couriers don't wait
/// for them; they skip those devices.
final class PostgresStore: OutboxStore {
    let clock: OutboxClock
    let pool: PostgresPool
    /// Whether a test supplies the time.
    private let isTimeGiven: Bool
    private let waker: PostgresWaker
    /// Turns at devices' rows, by the name of the device or user.
    private let turns: RowTurns
    private let rowPatience: Duration
    /// The names of the roles that the login has.
    private let roles: [String]
    /// The due times below which no queue's row was found recently.
    let searchStarts = Locked<[QueueLane: SearchStart]>([:])
    /// The time at which a courier may again look before these starts before it sleeps.
    private let nextWholeLook = Locked(ContinuousClock.Instant.now)
    /// The number of leases taken since the last turn of generations.
    let takenSinceTurn = Locked(0)

    /// `clock` is a test's clock, which replaces the database's. `host` is this host's clock, used along with the
    /// database's. `patience` is how long a call keeps trying while the server is unavailable, and `rowPatience` how long
    /// while another transaction holds a device's row.
    init(
        _ address: PostgresAddress, clock: OutboxClock? = nil, host: OutboxClock = .system, patience: Duration,
        rowPatience: Duration = PostgresStore.usualRowPatience,
        onWait: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws(OutboxError) {
        self.clock = clock ?? host
        isTimeGiven = clock != nil
        let pool = PostgresPool(address, patience: patience, onWait: onWait)
        self.pool = pool
        waker = PostgresWaker(address)
        turns = RowTurns(patience: rowPatience)
        self.rowPatience = rowPatience
        try await pool.requireSessions()
        roles = try await pool.connected { db throws(OutboxError) in
            try PostgresSchema.make(db)
            return try PostgresSchema.roles(of: db)
        }
    }

    /// Long enough for transactions that only store a message, and short enough for a caller to wait.
    static let usualRowPatience = Duration.seconds(2)

    func mark() async throws(OutboxError) -> [UInt8]? {
        try await read { db, _ throws(OutboxError) in
            try db.rows("SELECT mark FROM sealed_push.marks").first?.bytes("mark")
        }
    }

    /// Sets the mark once; an existing mark stays.
    func setMark(_ mark: [UInt8]) async throws(OutboxError) {
        _ = try await write { db, _ throws(OutboxError) in
            try db.rows(
                "INSERT INTO sealed_push.marks SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM sealed_push.marks)",
                [.bytes(mark)])
        }
    }

    /// Runs a transaction, and passes it the current time.
    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection, Int64) throws(OutboxError) -> Answer
    ) async throws(OutboxError) -> Answer {
        try await pool.transaction(isReadOnly: false, at: givenTime, body)
    }

    /// Runs a transaction that holds the rows of a device or user, which an application's transaction may hold. Calls with
    /// one name take turns. Others' locks are waited for without a connection; `attempt` is how long one attempt waits.
    ///
    /// - Throws: `deviceBusy` if they are held for longer than ``rowPatience``.
    func write<Answer: Sendable>(
        holding name: String?, attempt: Duration = .milliseconds(20),
        _ body: @escaping @Sendable (PostgresConnection, Int64) throws(OutboxError) -> Answer
    ) async throws(OutboxError) -> Answer {
        let time = givenTime
        guard let name else {
            return try await pool.transaction(
                isReadOnly: false, at: time, waiting: .init(attempt: attempt, end: .now + rowPatience), body)
        }
        return try await turns.run(name) { end throws(OutboxError) in
            try await pool.transaction(
                isReadOnly: false, at: time, waiting: .init(attempt: attempt, end: end), body)
        }
    }

    /// Runs a transaction once, and throws `deviceBusy` if another one holds its rows.
    func writeUnlessHeld<Answer: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection, Int64) throws(OutboxError) -> Answer
    ) async throws(OutboxError) -> Answer {
        try await pool.transaction(isReadOnly: false, at: givenTime, waiting: .init(end: .now), body)
    }

    /// Also throws if no connection is free, if the schema is gone, or if the login has lost a role.
    func requireWritable() async throws(OutboxError) {
        let roles = roles
        try await pool.connected(within: .seconds(1)) { db throws(OutboxError) in
            try PostgresSchema.requireUsable(db)
            let lost = Set(roles).subtracting(try PostgresSchema.roles(of: db)).sorted()
            guard lost.isEmpty else { throw .notPermitted("it has lost \(lost.joined(separator: ", "))") }
            let mode = try db.row("SELECT current_setting('transaction_read_only') = 'on' AS is_read_only")
            guard try !mode.bool("is_read_only") else { throw .unreachable("the server or session is read-only") }
            try PostgresPool.waitForStandby(db)
        }
    }

    func requireRegistering() async throws(OutboxError) {
        try await write(holding: nil) { db, _ throws(OutboxError) in
            _ = try db.rows("LOCK TABLE sealed_push.registrations IN ROW SHARE MODE")
        }
    }

    /// Runs a read-only transaction on one snapshot.
    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection, Int64) throws(OutboxError) -> Answer
    ) async throws(OutboxError) -> Answer {
        try await pool.transaction(isReadOnly: true, at: givenTime, body)
    }

    private var givenTime: Int64? { isTimeGiven ? clock.now() : nil }

    /// Whether the database's clock and this host's agree approximately. If they don't, one of them is wrong, and no
    /// data is deleted because of it.
    func isCertain(_ now: Int64) -> Bool { isTimeGiven || abs(now - clock.now()) < Self.clockTolerance }

    /// Milliseconds.
    private static let clockTolerance: Int64 = 300_000

    func rest(for duration: Duration, by carrier: Carrier) async {
        guard !isTimeGiven else { return await clock.sleep(duration) }
        await waker.rest(for: duration, by: carrier) { limit in
            let start = ContinuousClock.now
            let isWhole = start >= self.nextWholeLook.withLock { $0 }
            let searchStarts = isWhole ? [:] : self.searchStarts.withLock { $0 }
            let limit = isWhole ? limit : min(limit, .seconds(1))
            let time = try? await self.timeUntilDue(by: carrier, from: searchStarts, within: limit)
            if isWhole {
                self.nextWholeLook.withLock { $0 = SearchStart.nextWholeLook(after: start) }
                // Entries enqueued long before their transaction ended are due before these starts.
                if let time, time <= .zero { self.searchStarts.withLock { $0.removeAll() } }
            }
            return time ?? limit
        }
    }
}

extension Outbox {
    /// Opens an outbox in PostgreSQL, or creates it: a schema `sealed_push` in the database that the address names.
    ///
    /// - Parameters:
    ///   - address: `postgres://USER@HOST/DATABASE?sslrootcert=FILE`, in the form that all PostgreSQL tools accept,
    ///     without a password. The password comes from `PGPASSWORD` or the file at `PGPASSFILE`. For other machines,
    ///     the server's certificate is checked (`verify-full`), unless `sslmode` requests something else.
    ///   - patience: How long a call keeps trying while the server is unavailable. A restart takes seconds, and a
    ///     failover takes up to a minute.
    ///   - key: The key that authenticates the rows; an empty outbox requires it from then on. `nil` if it has no key.
    /// - Throws: `connection`, `unreachable`, `foreign`, `otherSchema`, `notPermitted`.
    public convenience init(
        postgres address: String, patience: Duration = .seconds(60), key: OutboxKey? = nil
    ) async throws(OutboxError) {
        self.init(try await PostgresStore(PostgresAddress(parsing: address), patience: patience), key: key)
    }

    /// `clock` is a test's clock, which replaces the database's. `rowPatience` is how long a call waits for a device's
    /// row that another transaction holds. `onWait` is called with the reason, once for each time
    /// that the server is unavailable for two seconds.
    package convenience init(
        postgres address: String, clock: OutboxClock?, patience: Duration = .seconds(60),
        rowPatience: Duration? = nil, key: OutboxKey? = nil,
        onWait: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws(OutboxError) {
        self.init(
            try await PostgresStore(
                PostgresAddress(parsing: address), clock: clock, patience: patience,
                rowPatience: rowPatience ?? PostgresStore.usualRowPatience, onWait: onWait), key: key)
    }
}
#endif
