internal import PushCore

/// Caches expensive answers: each is computed once for all concurrent callers and kept for a second. A failure is kept
/// equally long, since it may have cost as much. Thread-safe.
final class Cache<Question: Hashable & Sendable, Answer: Sendable>: Sendable {
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let make: @Sendable (Question) async throws -> Answer
    private let turn = TaskSemaphore(1)
    private let state = Locked(State())

    private struct State {
        var answers: [Question: Kept] = [:]
        var waitingCount = 0
    }

    private struct Kept {
        let task: Task<Answer, any Error>
        /// The time at which the value expires, or `nil` while it is being computed.
        var end: ContinuousClock.Instant?

        func isGood(at now: ContinuousClock.Instant) -> Bool { end.map { now < $0 } ?? true }
    }

    init(
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        _ make: @escaping @Sendable (Question) async throws -> Answer
    ) {
        self.clock = clock
        self.make = make
    }

    /// The number of callers that don't have an answer yet.
    var waitingCount: Int { state.withLock { $0.waitingCount } }

    func value(_ question: Question) async throws -> Answer {
        let now = clock()
        let task = state.withLock { state in
            state.waitingCount += 1
            if let kept = state.answers[question], kept.isGood(at: now) { return kept.task }
            // Not the caller's own task: the first caller may leave before the others have their answer.
            let task = Task { try await self.made(question) }
            state.answers[question] = Kept(task: task)
            return task
        }
        defer { state.withLock { $0.waitingCount -= 1 } }
        return try await task.value
    }

    private func made(_ question: Question) async throws -> Answer {
        await turn.enter()
        defer {
            turn.leave()
            let now = clock()
            state.withLock { state in
                state.answers = state.answers.filter { $0.value.isGood(at: now) }
                state.answers[question]?.end = now + .seconds(1)
            }
        }
        return try await make(question)
    }
}
