internal import _PushBase

/// Answers that cost much and are never old: each is begun after it was asked for.
///
/// One is made at a time. Those who ask for the same while another is being made share the next, so that however many ask, and
/// give up, and ask again, one of each question waits at most. Safe from many threads.
final class FreshAnswers<Question: Hashable & Sendable, Answer: Sendable>: Sendable {
    private let make: @Sendable (Question) async throws -> Answer
    private let turns = Places(1)
    private let state = Locked(State())

    private struct State {
        /// Those that have not begun.
        var next: [Question: Task<Answer, any Error>] = [:]
        var waitingCount = 0
    }

    init(_ make: @escaping @Sendable (Question) async throws -> Answer) { self.make = make }

    /// Those who have asked and have no answer yet.
    var waitingCount: Int { state.withLock { $0.waitingCount } }

    func value(_ question: Question) async throws -> Answer {
        let next = state.withLock { state -> Task<Answer, any Error> in
            state.waitingCount += 1
            if let next = state.next[question] { return next }
            // Not the caller's own: whoever asked first may be gone before the others have their answer.
            let next = Task { try await self.made(question) }
            state.next[question] = next
            return next
        }
        defer { state.withLock { $0.waitingCount -= 1 } }
        return try await next.value
    }

    private func made(_ question: Question) async throws -> Answer {
        await turns.enter()
        defer { turns.leave() }
        // Whoever asks from here on may have changed something that this one does not see any more.
        state.withLock { $0.next[question] = nil }
        return try await make(question)
    }
}
