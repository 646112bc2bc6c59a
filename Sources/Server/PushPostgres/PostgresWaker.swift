#if Postgres
    internal import PushOutbox
    internal import PushCore

    /// Lets a courier sleep until somebody enqueues.
    ///
    /// Who enqueues says NOTIFY only where a courier has said that it sleeps, by an advisory lock; one sleeper speaks for all, and
    /// the others hear it, too. The connection is opened at the first sleep. Where it fails, couriers look by themselves.
    final class PostgresWaker: Sendable {
        private let address: PostgresAddress
        private let state = Locked(State())

        private struct State: Sendable {
            var connection: PostgresConnection?
            var isBusy = false
        }

        init(_ address: PostgresAddress) { self.address = address }

        /// Sleeps, at most ``longest`` where nothing is due before.
        ///
        /// - Parameters:
        ///   - shortest: what a courier sleeps that can't be woken.
        ///   - timeUntilDue: nil where nothing waits.
        /// - Returns: whether it was woken.
        func rest(for shortest: Duration, timeUntilDue: @Sendable () async -> Duration?) async -> Bool {
            guard let connection = await claim(within: shortest) else { return false }
            let isAsleep = try? await connection.run { connection throws(OutboxError) in
                let rows = try connection.rows(
                    "SELECT pg_try_advisory_lock(\(PostgresSchema.advisoryClass), 1) AS is_mine")
                return try rows.first?.bool("is_mine") ?? false
            }
            // Only now, since what was committed before nobody has told; and what waits in a transaction keeps the lock away.
            let due = await timeUntilDue()
            let limit =
                due.map { $0 > .zero ? min($0, max(shortest, Self.longest)) : min(shortest, Self.shortest) }
                ?? max(shortest, Self.longest)
            let time = isAsleep == true ? max(limit, .milliseconds(1)) : min(limit, shortest, .seconds(1))
            let wasWoken = await withTaskCancellationHandler {
                try? await connection.run { connection throws(OutboxError) in
                    let wasWoken = try connection.waitForNotification(for: time)
                    if isAsleep == true {
                        try connection.rows("SELECT pg_advisory_unlock(\(PostgresSchema.advisoryClass), 1)")
                    }
                    return wasWoken
                }
            } onCancel: {
                connection.interrupt()
            }
            release(connection)
            return wasWoken ?? false
        }

        /// Nil, after that time, where another courier of this process is at it, or there is no connection.
        private func claim(within shortest: Duration) async -> PostgresConnection? {
            let end = ContinuousClock.now + shortest
            var pause = Duration.milliseconds(1)
            while true {
                let (isMine, connection) = state.withLock { state in
                    if state.isBusy { return (false, nil as PostgresConnection?) }
                    state.isBusy = true
                    return (true, state.connection)
                }
                if isMine { return await usable(connection, until: end) }
                // A courier that was woken by its own work is about to let go.
                guard ContinuousClock.now < end, !Task.isCancelled else { return nil }
                await Self.sleep(min(pause, end - .now))
                pause = min(pause * 2, .milliseconds(50))
            }
        }

        private func usable(
            _ connection: PostgresConnection?, until end: ContinuousClock.Instant
        ) async -> PostgresConnection? {
            if let connection, connection.isUsable { return connection }
            let opened = try? await PostgresPool.open(address)
            _ = try? await opened?.run { connection throws(OutboxError) in
                try connection.script("SET idle_session_timeout = 0; LISTEN \(PostgresSchema.channel)")
            }
            if opened == nil {
                state.withLock { $0.isBusy = false }
                await Self.sleep(min(end - .now, .seconds(1)))
            }
            return opened
        }

        private func release(_ connection: PostgresConnection) {
            state.withLock { state in
                state.connection = connection.isUsable ? connection : nil
                state.isBusy = false
            }
        }

        private static func sleep(_ duration: Duration) async { try? await Task.sleep(for: duration) }

        /// Where something is due that was not taken.
        private static let shortest = Duration.milliseconds(250)
        /// Others' clocks and retries are looked at this often, whatever was heard.
        private static let longest = Duration.seconds(5)
    }
#endif
