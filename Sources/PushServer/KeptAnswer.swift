internal import _PushBase

/// An answer that costs much and is no secret: made once for all who ask meanwhile, and kept for a second after.
///
/// However many ask, one is made at a time, so that they take little from those who ask for something else. A failure is kept
/// as long: it may have cost as much. Safe from many threads.
final class KeptAnswer<Answer: Sendable>: Sendable {
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let make: @Sendable () async throws -> Answer
    private let state = Locked(State())

    private struct State {
        var making: Task<Answer, any Error>?
        var kept: Result<Answer, any Error>?
        /// From then on, what is kept is too old.
        var end: ContinuousClock.Instant?
        var waitingCount = 0
    }

    /// - Parameter clock: by which what is kept grows old.
    init(
        clock: @escaping @Sendable () -> ContinuousClock.Instant, _ make: @escaping @Sendable () async throws -> Answer
    ) {
        self.clock = clock
        self.make = make
    }

    /// Those who wait for the answer that is being made.
    var waitingCount: Int { state.withLock { $0.waitingCount } }

    func value() async throws -> Answer {
        let now = clock()
        let (kept, making) = state.withLock { state -> (Result<Answer, any Error>?, Task<Answer, any Error>?) in
            if let kept = state.kept, let end = state.end, now < end { return (kept, nil) }
            state.waitingCount += 1
            if let making = state.making { return (nil, making) }
            // Not the caller's own: whoever asked first may be gone before the others have their answer.
            let making = Task { try await self.made() }
            state.making = making
            return (nil, making)
        }
        if let kept { return try kept.get() }
        defer { state.withLock { $0.waitingCount -= 1 } }
        guard let making else { preconditionFailure("an answer is kept or being made") }
        return try await making.value
    }

    private func made() async throws -> Answer {
        let made: Result<Answer, any Error>
        do { made = .success(try await make()) } catch { made = .failure(error) }
        let end = clock() + .seconds(1)
        state.withLock { state in
            state.making = nil
            state.kept = made
            state.end = end
        }
        return try made.get()
    }
}
