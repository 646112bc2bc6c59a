#if Postgres
    internal import Dispatch
    package import PushOutbox
    internal import PushCore

    /// A few connections to one server, and transactions over them that outlive a lost connection, a restart and a failover.
    package final class PostgresPool: Sendable {
        private let address: PostgresAddress
        /// How long a call goes on trying where the server is away.
        private let patience: Duration
        private let state = Locked(State())

        private struct State: Sendable {
            var idle: [PostgresConnection] = []
            var openCount = 0
            var waiters: [CheckedContinuation<PostgresConnection?, Never>] = []
        }

        /// A transaction as its body sees it.
        struct Transaction {
            let connection: PostgresConnection
            /// By the server's clock, in milliseconds since 1970, when the transaction began.
            let now: Int64
        }

        package init(_ address: PostgresAddress, patience: Duration) {
            self.address = address
            self.patience = patience
        }

        /// Runs a transaction to its end, also when the calling task is cancelled. Where it was lost on its way, or another stood
        /// in its way, the body is called again; where the answer to COMMIT was lost, the server is asked what became of it.
        ///
        /// - Throws: `unreachable` after ``patience``; then it is not known whether the transaction was committed only where
        ///   that was its last step.
        func transaction<Answer: Sendable>(
            _ body: @escaping @Sendable (Transaction) throws(OutboxError) -> Answer
        ) async throws(OutboxError) -> Answer {
            let pending = Locked<Pending<Answer>?>(nil)
            return try await persistently { connection throws(OutboxError) in
                if let earlier = pending.withLock({ $0 }) {
                    if try await earlier.isCommitted(connection) { return earlier.answer }
                    pending.withLock { $0 = nil }
                }
                return try await connection.run { connection throws(OutboxError) in
                    let first = try connection.script(
                        """
                        BEGIN ISOLATION LEVEL READ COMMITTED;
                        SELECT sealed_push.milliseconds(), pg_current_xact_id()::text
                        """)
                    guard let row = first.first, row.count == 2, let now = row[0].flatMap({ Int64($0) }),
                        let number = row[1]
                    else { throw .damaged }
                    let answer = try body(Transaction(connection: connection, now: now))
                    pending.withLock { $0 = Pending(number: number, answer: answer) }
                    try connection.script("COMMIT")
                    return answer
                }
            }
        }

        /// Reads from one snapshot.
        func reading<Answer: Sendable>(
            _ body: @escaping @Sendable (Transaction) throws(OutboxError) -> Answer
        ) async throws(OutboxError) -> Answer {
            try await persistently { connection throws(OutboxError) in
                try await connection.run { connection throws(OutboxError) in
                    let first = try connection.script(
                        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT sealed_push.milliseconds()")
                    guard let now = first.first?.first?.flatMap({ Int64($0) }) else { throw .damaged }
                    let answer = try body(Transaction(connection: connection, now: now))
                    try connection.script("COMMIT")
                    return answer
                }
            }
        }

        /// Runs on a connection that is nobody else's meanwhile, without a transaction; once more where the server was away.
        package func connected<Answer: Sendable>(
            _ body: @escaping @Sendable (PostgresConnection) throws(OutboxError) -> Answer
        ) async throws(OutboxError) -> Answer {
            try await persistently { connection throws(OutboxError) in try await connection.run(body) }
        }

        private struct Pending<Answer: Sendable>: Sendable {
            /// PostgreSQL's number of the transaction, by which it can be asked for its end.
            let number: String
            let answer: Answer

            /// Source: PostgreSQL 15, 9.27.7, pg_xact_status.
            func isCommitted(_ connection: PostgresConnection) async throws(OutboxError) -> Bool {
                try await connection.run { connection throws(OutboxError) in
                    for _ in 0..<600 {
                        // A server that does not know the number has lost it, as an asynchronous standby that was promoted.
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
                    throw .unreachable("a transaction of an ended connection does not end")
                }
            }
        }

        /// Returns when what others have committed outlives a failover, too. A connection that is ended while its COMMIT waits for
        /// the synchronous standby has committed at the server alone. A later commit that writes waits until the standby has
        /// both; a commit that writes nothing would not wait.
        func waitForStandby() async throws(OutboxError) {
            try await connected { connection throws(OutboxError) in try Self.waitForStandby(connection) }
        }

        private static func waitForStandby(_ connection: PostgresConnection) throws(OutboxError) {
            try connection.script("SELECT pg_current_xact_id(), pg_logical_emit_message(true, 'sealed_push', '')")
        }

        private func persistently<Answer: Sendable>(
            _ body: @escaping @Sendable (PostgresConnection) async throws(OutboxError) -> Answer
        ) async throws(OutboxError) -> Answer {
            let end = ContinuousClock.now + patience
            var pause = Duration.milliseconds(20)
            while true {
                do throws(OutboxError) {
                    let connection = try await take()
                    do throws(OutboxError) {
                        let answer = try await body(connection)
                        give(back: connection)
                        return answer
                    } catch {
                        await abandon(connection)
                        throw error
                    }
                } catch {
                    var isAway = false
                    if case .unreachable = error { isAway = true }
                    guard isAway || error.isCollision, ContinuousClock.now < end else { throw error }
                    // A cancelled task waits, too, as a transaction runs to its end; in a task of its own it can.
                    let time = isAway ? pause : .milliseconds(Int.random(in: 0...20))
                    await Task.detached { try? await Task.sleep(for: time) }.value
                    if isAway { pause = min(pause * 2 * Double.random(in: 0.8...1.2), .seconds(1)) }
                }
            }
        }

        // MARK: Connections

        private func take() async throws(OutboxError) -> PostgresConnection {
            let connection: PostgresConnection? = await withCheckedContinuation { continuation in
                let ready: PostgresConnection?? = state.withLock { state in
                    if let connection = state.idle.popLast() { return .some(connection) }
                    guard state.openCount < Self.maximumCount else {
                        state.waiters.append(continuation)
                        return .none
                    }
                    state.openCount += 1
                    return .some(nil)
                }
                if let ready { continuation.resume(returning: ready) }
            }
            if let connection {
                if connection.isUsable { return connection }
            }
            do throws(OutboxError) { return try await Self.open(address) } catch {
                release()
                throw error
            }
        }

        private func give(back connection: PostgresConnection) {
            guard connection.isUsable, connection.isIdle else { return release() }
            let waiter: CheckedContinuation<PostgresConnection?, Never>? = state.withLock { state in
                guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
                state.idle.append(connection)
                return nil
            }
            waiter?.resume(returning: connection)
        }

        /// Ends what is half done.
        private func abandon(_ connection: PostgresConnection) async {
            _ = try? await connection.run { connection throws(OutboxError) in
                if connection.isUsable, !connection.isIdle { try connection.script("ROLLBACK") }
            }
            give(back: connection)
        }

        /// Somebody who waits may open one in this one's place.
        private func release() {
            let waiter: CheckedContinuation<PostgresConnection?, Never>? = state.withLock { state in
                guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
                state.openCount -= 1
                return nil
            }
            waiter?.resume(returning: nil)
        }

        /// A new connection, on a thread of its own meanwhile.
        static func open(_ address: PostgresAddress) async throws(OutboxError) -> PostgresConnection {
            let result: Result<PostgresConnection, OutboxError> = await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    let result: Result<PostgresConnection, OutboxError>
                    do throws(OutboxError) {
                        let connection = try PostgresConnection(address)
                        try connection.script(session)
                        result = .success(connection)
                    } catch { result = .failure(error) }
                    continuation.resume(returning: result)
                }
            }
            return try result.get()
        }

        /// Nothing is found by another's names: what is temporary comes last only where it is named. Plans are those for few rows
        /// by an index, whatever the statistics say of tables that are empty in one moment and full in the next. What a dead
        /// client held is free again after a minute.
        private static let session = """
            SET search_path = pg_catalog, pg_temp; SET jit = off; SET plan_cache_mode = force_generic_plan;
            SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
            SET statement_timeout = '60s'; SET lock_timeout = '30s'; SET idle_in_transaction_session_timeout = '60s'
            """
        private static let maximumCount = 6
    }
#endif
