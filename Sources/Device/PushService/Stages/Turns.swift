import Dispatch
internal import PushCore

#if os(iOS) || os(visionOS)
    internal import os
#endif

/// A semaphore for one kind of work in the whole process. A waiting task holds no thread, and leaves the queue when it's
/// canceled, as it is when its notification's time is up. Thread-safe.
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

    /// Allows `width` turns at once, each of which takes `byteCount` bytes of `memory`. If there isn't enough for a turn,
    /// it waits until another ends, or for a moment. `memory` is nil if memory doesn't matter.
    package init(width: Int, memory: SharedMemory? = nil, each byteCount: Int = 0) {
        self.width = width
        self.memory = memory
        self.byteCount = byteCount
    }

    /// Does the work when its turn comes. Lower places come first; for the same place, the earlier caller. Throws the
    /// error of `work`, or `CancellationError` if the task is canceled while it waits.
    package func take<Answer>(at place: Int = 0, _ work: () async throws -> Answer) async throws -> Answer {
        try await begin(at: place)
        defer { end() }
        return try await work()
    }

    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Waits for a turn, to be released with ``end()``.
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
            // Under the lock, so that a later cancellation finds it in the queue.
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
            // No `end()` will follow, because something else uses the memory.
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

@available(iOS 18, macCatalyst 18, macOS 15, visionOS 2, *)
final class ThreadExecutor: TaskExecutor {
    static let shared = ThreadExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        StageExecutor.queue().async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
