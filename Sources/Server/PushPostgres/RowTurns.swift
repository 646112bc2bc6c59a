#if Postgres
internal import PushCore
internal import PushOutbox

/// Turns at rows that other transactions may hold, such as a device's. Of all calls for the same rows, only one uses a
/// connection; the others wait here, so that rows that are held for long don't use up the connections. Once a call has
/// given up, the waiting ones give up, too, and later ones make a single attempt, until one succeeds. Thread-safe.
final class RowTurns: Sendable {
    private let rows = Locked<[String: Rows]>([:])
    private let patience: Duration
    private let clock: @Sendable () -> ContinuousClock.Instant

    /// The time until which a call may make attempts, or why it may make none.
    private typealias Turn = Result<ContinuousClock.Instant, OutboxError>
    private typealias Waiter = CheckedContinuation<Turn, Never>

    private struct Rows {
        var isTaken = false
        var waiters: [Waiter] = []
        /// The time at which a call last gave up, or `nil` if none has since the last success.
        var failed: ContinuousClock.Instant?
    }

    /// - Parameter patience: How long a call keeps trying while others hold its rows.
    init(patience: Duration, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.patience = patience
        self.clock = clock
    }

    /// Runs one attempt, or several until the time passed to the body.
    ///
    /// - Throws: `deviceBusy` without an attempt if one has just failed.
    func run<Answer>(
        _ name: String, _ body: (_ end: ContinuousClock.Instant) async throws(OutboxError) -> Answer
    ) async throws(OutboxError) -> Answer {
        let end = try await enter(name).get()
        do throws(OutboxError) {
            let answer = try await body(end)
            leave(name, nil)
            return answer
        } catch {
            leave(name, error)
            throw error
        }
    }

    private func enter(_ name: String) async -> Turn {
        await withCheckedContinuation { continuation in
            let now = clock()
            let answer = rows.withLock { rows -> Turn? in
                if rows.count >= Self.maximumCount { rows = rows.filter { isRecent($0.value, at: now) } }
                var mine = rows[name] ?? Rows()
                defer { rows[name] = mine }
                if mine.isTaken {
                    mine.waiters.append(continuation)
                    return nil
                }
                if let failed = mine.failed, now < failed + Self.pause { return .failure(.deviceBusy) }
                mine.isTaken = true
                return .success(end(mine, at: now))
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    private func leave(_ name: String, _ error: OutboxError?) {
        let now = clock()
        let (given, answer) = rows.withLock { rows -> ([Waiter], Turn) in
            var mine = rows[name] ?? Rows()
            defer { rows[name] = mine.isTaken || mine.failed != nil ? mine : nil }
            let waiters = mine.waiters
            mine.failed = error == .deviceBusy ? now : nil
            switch error {
            // Each of the others would wait as long, for the same reason.
            case .deviceBusy, .unreachable:
                (mine.isTaken, mine.waiters) = (false, [])
                return (waiters, .failure(error ?? .deviceBusy))
            default:
                (mine.isTaken, mine.waiters) = (!waiters.isEmpty, Array(waiters.dropFirst()))
                return (Array(waiters.prefix(1)), .success(end(mine, at: now)))
            }
        }
        for waiter in given { waiter.resume(returning: answer) }
    }

    /// Rows that were held for as long as a call waits are probably still held: a single attempt shows it.
    private func end(_ rows: Rows, at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        rows.failed.map { now < $0 + Self.memory } ?? false ? now : now + patience
    }

    private func isRecent(_ rows: Rows, at now: ContinuousClock.Instant) -> Bool {
        rows.isTaken || rows.failed.map { now < $0 + Self.memory } ?? false
    }

    /// The shortest time between two attempts after a call has given up.
    private static let pause = Duration.milliseconds(250)
    private static let memory = Duration.seconds(10)
    private static let maximumCount = 1_000
}
#endif
