#if Postgres
package import PushOutbox
internal import PushCore
internal import PushSender

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A few connections to one server, and transactions that survive a lost connection, a restart, and a failover.
package final class PostgresPool: Sendable {
    private let address: PostgresAddress
    /// How long a call keeps trying while the server is unavailable.
    private let patience: Duration
    private let onWait: @Sendable (String) -> Void
    private let state = Locked(State())

    /// Permission to use one of the connections: a free one, or `nil` if it must be opened.
    private struct Place: Sendable {
        let connection: PostgresConnection?
    }

    /// How long a transaction waits for locks that others hold.
    struct LockLimit: Sendable {
        /// How long one attempt may wait for one lock, while it uses a connection. Long enough for others' commits.
        var attempt = Duration.milliseconds(20)
        /// The time until which further attempts are made.
        let end: ContinuousClock.Instant
    }

    private struct State: Sendable {
        var idle: [PostgresConnection] = []
        var openCount = 0
        var waiters: [(number: Int, continuation: CheckedContinuation<Place?, Never>)] = []
        var lastNumber = 0
        /// The time at which opening connections began to fail, or `nil` if the last attempt succeeded.
        var absence: (start: ContinuousClock.Instant, reason: String?, isTold: Bool)?
    }

    /// - Parameter onWait: Called with the reason, once for each time that no connection is available for two seconds.
    package init(
        _ address: PostgresAddress, patience: Duration, onWait: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.address = address
        self.patience = patience
        self.onWait = onWait
    }

    /// Detects a pooler that assigns any free session to each transaction. Prepared statements, locks, and LISTEN
    /// belong to a session. Throws `connection` if there is such a pooler.
    func requireSessions() async throws(OutboxError) {
        let isShared = try await persistently { connection throws(OutboxError) in
            let session = try await connection.run { connection throws(OutboxError) in try connection.session() }
            guard session != connection.announcedSession else { return false }
            // Two concurrent sessions always differ, and a session's own process never changes.
            let other = try await self.connected { connection throws(OutboxError) in try connection.session() }
            let again = try await connection.run { connection throws(OutboxError) in try connection.session() }
            return session == other || session != again
        }
        guard !isShared else {
            throw .connection(
                "the address is a pooler in transaction mode; set its pool_mode to session, or name the server"
            )
        }
    }

    /// Runs a transaction to completion, even if the calling task is canceled. If it is lost or collides with another
    /// one, the body is called again. If the response to COMMIT is lost, the server is asked whether it was committed.
    ///
    /// - Parameters:
    ///   - isReadOnly: Whether to only read, from one snapshot.
    ///   - time: The time passed to the body, in milliseconds since 1970, or `nil` for the server's at the beginning.
    ///   - limit: How long it waits for locks; `nil` for as long as ``patience``.
    /// - Throws: `unreachable` after ``patience``. If the last step was the commit, it is then unknown whether the
    ///   transaction was committed. `deviceBusy` after the limit.
    func transaction<Answer: Sendable>(
        isReadOnly: Bool, at time: Int64?, waiting limit: LockLimit? = nil,
        _ body: @escaping @Sendable (PostgresConnection, Int64) throws(OutboxError) -> Answer
    ) async throws(OutboxError) -> Answer {
        let (level, number) =
            isReadOnly ? ("REPEATABLE READ READ ONLY", "NULL") : ("READ COMMITTED", "pg_current_xact_id()::text")
        let wait = limit.map { "SET LOCAL lock_timeout = \($0.attempt.milliseconds); " } ?? ""
        let pending = Locked<Pending<Answer>?>(nil)
        return try await persistently(waiting: limit) { connection throws(OutboxError) in
            if let earlier = pending.withLock({ $0 }) {
                if try await earlier.isCommitted(connection) { return earlier.answer }
                pending.withLock { $0 = nil }
            }
            return try await connection.run { connection throws(OutboxError) in
                let first = try connection.script(
                    "BEGIN ISOLATION LEVEL \(level); \(wait)SELECT sealed_push.milliseconds(), \(number)")
                guard let row = first.first, row.count == 2, let now = row[0].flatMap({ Int64($0) }) else {
                    throw .damaged
                }
                let answer = try body(connection, time ?? now)
                if let number = row[1] { pending.withLock { $0 = Pending(number: number, answer: answer) } }
                try connection.script("COMMIT")
                return answer
            }
        }
    }

    /// Runs the body on a dedicated connection, without a transaction, and repeats it if the server was unavailable, for
    /// this long instead of ``patience``.
    package func connected<Answer: Sendable>(
        within time: Duration? = nil,
        _ body: @escaping @Sendable (PostgresConnection) throws(OutboxError) -> Answer
    ) async throws(OutboxError) -> Answer {
        try await persistently(within: time) { connection throws(OutboxError) in try await connection.run(body) }
    }

    private struct Pending<Answer: Sendable>: Sendable {
        /// PostgreSQL's number of the transaction, for querying its status.
        let number: String
        let answer: Answer

        /// Source: PostgreSQL 15, 9.27.7, pg_xact_status.
        func isCommitted(_ connection: PostgresConnection) async throws(OutboxError) -> Bool {
            try await connection.run { connection throws(OutboxError) in
                for _ in 0..<600 {
                    // A promoted asynchronous standby that doesn't know the number has lost the transaction.
                    let rows = try connection.rows(
                        """
                        SELECT CASE WHEN $1::xid8 < pg_snapshot_xmax(pg_current_snapshot())
                            THEN pg_xact_status($1::xid8) END AS status
                        """, [.text(number)])
                    let status = try rows.first?.optionalText("status")
                    if status == "committed" {
                        try PostgresPool.waitForStandby(connection)
                        return true
                    }
                    guard status == "in progress" else { return false }
                    usleep(50_000)
                }
                throw .unreachable("a transaction of a closed connection is still in progress")
            }
        }
    }

    /// Returns once other callers' earlier commits survive a failover, too. If a connection ends while its COMMIT waits
    /// for the synchronous standby, the commit is only on the server. A later commit that writes waits until the
    /// standby has both, but an empty commit would not wait.
    static func waitForStandby(_ connection: PostgresConnection) throws(OutboxError) {
        try connection.script("SELECT pg_current_xact_id(), pg_logical_emit_message(true, 'sealed_push', '')")
    }

    private func persistently<Answer: Sendable>(
        within time: Duration? = nil, waiting limit: LockLimit? = nil,
        _ body: @escaping @Sendable (PostgresConnection) async throws(OutboxError) -> Answer
    ) async throws(OutboxError) -> Answer {
        let end = ContinuousClock.now + (time ?? patience)
        var (pause, lockPause) = (Duration.milliseconds(20), Duration.milliseconds(20))
        while true {
            do throws(OutboxError) {
                let connection = try await take(within: time ?? patience)
                do throws(OutboxError) {
                    let answer = try await body(connection)
                    give(back: connection)
                    return answer
                } catch {
                    // Rolls back the unfinished transaction.
                    _ = try? await connection.run { connection throws(OutboxError) in
                        if connection.isUsable, !connection.isIdle { try connection.script("ROLLBACK") }
                    }
                    // A server that has become read-only keeps its sessions; a new one finds the writable server.
                    give(back: error.isAbsence ? nil : connection)
                    throw error
                }
            } catch {
                guard error.isAbsence || error.isCollision, ContinuousClock.now < end else { throw error }
                if let limit, error.isCollision {
                    guard ContinuousClock.now < limit.end else { throw .deviceBusy }
                    await Self.sleep(lockPause)
                    lockPause = min(lockPause * 2, .milliseconds(250))
                } else if error.isCollision {
                    await Self.sleep(.milliseconds(Int.random(in: 0...20)))
                } else {
                    await Self.sleep(pause)
                    pause = min(pause * 2 * Double.random(in: 0.8...1.2), .seconds(1))
                }
            }
        }
    }

    /// Sleeps even if the task is canceled, since a transaction runs to completion; only a detached task can.
    private static func sleep(_ time: Duration) async {
        await Task.detached { try? await Task.sleep(for: time) }.value
    }

    // MARK: Connections

    /// Returns a free or new connection. Throws `unreachable` if all are in use for this long.
    private func take(within limit: Duration) async throws(OutboxError) -> PostgresConnection {
        var alarm: Task<Void, Never>?
        let place: Place? = await withCheckedContinuation { continuation in
            let number = state.withLock { state -> Int? in
                if let connection = state.idle.popLast() {
                    continuation.resume(returning: Place(connection: connection))
                } else if state.openCount < Self.maximumCount {
                    state.openCount += 1
                    continuation.resume(returning: Place(connection: nil))
                } else {
                    state.lastNumber += 1
                    state.waiters.append((state.lastNumber, continuation))
                    return state.lastNumber
                }
                return nil
            }
            guard let number else { return }
            alarm = Task.detached {
                try? await Task.sleep(for: limit)
                self.giveUp(number)
            }
        }
        alarm?.cancel()
        guard let place else {
            let count = state.withLock { $0.waiters.count }
            throw .unreachable(
                "none of this process's \(Self.maximumCount) connections became free within \(limit.milliseconds) ms; \(count) more calls are waiting for one"
            )
        }
        if let connection = place.connection, connection.isUsable { return connection }
        do throws(OutboxError) { return try await open() } catch {
            give(back: nil)
            throw error
        }
    }

    /// Ends a wait for a connection.
    private func giveUp(_ number: Int) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(returning: nil)
    }

    private func open() async throws(OutboxError) -> PostgresConnection {
        let start = state.withLock { state in
            state.absence = state.absence ?? (.now, nil, false)
            return state.absence?.start ?? .now
        }
        let alarm = Task { [self] in
            try await Task.sleep(until: start + Self.quietTime)
            tellAbsence()
        }
        defer { alarm.cancel() }
        do throws(OutboxError) {
            let connection = try await PostgresConnection.open(address)
            state.withLock { $0.absence = nil }
            return connection
        } catch {
            state.withLock { $0.absence?.reason = error.description }
            if start + Self.quietTime < .now { tellAbsence() }
            throw error
        }
    }

    private func tellAbsence() {
        let reason = state.withLock { state -> String? in
            guard let absence = state.absence, !absence.isTold else { return nil }
            state.absence?.isTold = true
            return absence.reason ?? "the database has not answered yet"
        }
        if let reason { onWait(reason) }
    }

    private static let quietTime = Duration.seconds(2)

    /// Hands the connection to a waiting caller, or keeps it. If it is broken, a new one can replace it.
    private func give(back connection: PostgresConnection?) {
        let usable = connection.flatMap { $0.isUsable && $0.isIdle ? $0 : nil }
        state.withLock { state in
            if !state.waiters.isEmpty {
                state.waiters.removeFirst().continuation.resume(returning: Place(connection: usable))
            } else if let usable {
                state.idle.append(usable)
            } else {
                state.openCount -= 1
            }
        }
    }

    static let maximumCount = 6
}

/// Lets a courier sleep until a push is enqueued. An enqueueing transaction sends NOTIFY only if a courier holds the
/// advisory lock that signals sleep. One sleeper holds it for all sleepers, and each hears the notification. If its
/// connection fails, a courier polls.
final class PostgresWaker: Sendable {
    private let address: PostgresAddress
    /// One connection for each carrier, so that couriers' sleeps don't wait for one another.
    private let connections = Locked<[Carrier: PostgresConnection]>([:])

    init(_ address: PostgresAddress) { self.address = address }

    /// Sleeps until an entry is due or enqueued, or until the longest time elapses. `duration` is how long a courier
    /// sleeps if it can't be woken. `timeUntilDue` returns the time until an entry is due, at most the given limit.
    func rest(
        for duration: Duration, by carrier: Carrier, timeUntilDue: @Sendable (Duration) async -> Duration
    ) async {
        guard let connection = await connection(for: carrier) else {
            try? await Task.sleep(for: min(duration, Self.longest))
            return
        }
        let lock = "(\(PostgresSchema.advisoryClass), 1)"
        let isAsleep = try? await connection.run { connection throws(OutboxError) in
            try connection.row("SELECT pg_try_advisory_lock\(lock) AS is_mine").bool("is_mine")
        }
        // Checked only now: earlier commits send no notification, and an open transaction keeps the lock unavailable.
        let longest = isAsleep == true ? max(duration, Self.longest) : min(duration, Self.longest)
        let due = await timeUntilDue(longest)
        // If an entry is due but wasn't taken, another process holds it.
        var time = due > .zero ? due : min(duration, Self.shortest)
        if Task.isCancelled { time = .zero }
        let limit = time
        _ = await withTaskCancellationHandler {
            try? await connection.run { connection throws(OutboxError) in
                try connection.waitForNotification(for: limit)
                if isAsleep == true { try connection.rows("SELECT pg_advisory_unlock\(lock)") }
            }
        } onCancel: {
            connection.interrupt()
        }
    }

    private func connection(for carrier: Carrier) async -> PostgresConnection? {
        if let known = connections.withLock({ $0[carrier] }), known.isUsable { return known }
        let opened = try? await PostgresConnection.open(address)
        _ = try? await opened?.run { connection throws(OutboxError) in
            try connection.script("LISTEN \(PostgresSchema.channel)")
        }
        connections.withLock { $0[carrier] = opened }
        return opened
    }

    private static let shortest = Duration.milliseconds(250)
    private static let longest = Duration.seconds(1)
}
#endif
