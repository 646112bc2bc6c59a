import Dispatch
internal import PushCore

/// So many pieces of work of one kind at once, in the whole process. Whoever waits for a turn holds no thread, and leaves
/// the queue when its task is cancelled, as it is when its notification's time is up.
///
/// Safe from several threads.
package final class Turns: Sendable {
    private let width: Int
    private let memory: SharedMemory?
    private let byteCount: Int
    private let state = Locked(State())

    private struct State {
        var runningCount = 0
        var nextNumber = 0
        /// In the order in which they get their turns.
        var waiting: [Waiting] = []
        var looksAgain = false
    }

    private struct Waiting {
        let place: Int
        let number: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    /// - Parameters:
    ///   - width: how many at once.
    ///   - memory: where there is not enough for one more, that waits until one ends, or a moment. Nil where it is no matter.
    ///   - byteCount: what each takes of it.
    package init(width: Int, memory: SharedMemory? = nil, each byteCount: Int = 0) {
        self.width = width
        self.memory = memory
        self.byteCount = byteCount
    }

    /// Does the work when it is its turn.
    ///
    /// - Parameter place: lower ones come first; of one place, who came first.
    /// - Throws: what `work` throws; `CancellationError` where the task is cancelled while it waits.
    package func take<Answer>(at place: Int = 0, _ work: () async throws -> Answer) async throws -> Answer {
        try await begin(at: place)
        defer { end() }
        return try await work()
    }

    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Waits for a turn, to be given back with ``end()``.
    func begin(at place: Int) async throws {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enter(Waiting(place: place, number: number, continuation: continuation))
            }
        } onCancel: {
            leave(number)
        }
    }

    private func enter(_ newcomer: Waiting) {
        let isTooLate = state.withLock { state in
            // Under the lock: a cancellation that comes later finds it in the queue.
            if Task.isCancelled { return true }
            let index = state.waiting.firstIndex { $0.place > newcomer.place } ?? state.waiting.endIndex
            state.waiting.insert(newcomer, at: index)
            return false
        }
        if isTooLate { newcomer.continuation.resume(throwing: CancellationError()) }
        giveTurns()
    }

    private func leave(_ number: Int) {
        let leaving = state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
        }
        leaving?.continuation.resume(throwing: CancellationError())
    }

    func end() {
        state.withLock { $0.runningCount -= 1 }
        memory?.giveBack(byteCount)
        giveTurns()
    }

    private func giveTurns() {
        let (next, looksAgain) = state.withLock { state in
            var next: [Waiting] = []
            while !state.waiting.isEmpty, state.runningCount < width, memory?.take(byteCount) ?? true {
                state.runningCount += 1
                next.append(state.waiting.removeFirst())
            }
            // Nobody's end would call: something else takes the memory.
            let looksAgain = !state.waiting.isEmpty && state.runningCount == 0 && !state.looksAgain
            if looksAgain { state.looksAgain = true }
            return (next, looksAgain)
        }
        for waiting in next { waiting.continuation.resume() }
        guard looksAgain else { return }
        StageExecutor.queue().asyncAfter(deadline: .now() + .milliseconds(50)) { [self] in
            state.withLock { $0.looksAgain = false }
            giveTurns()
        }
    }
}
