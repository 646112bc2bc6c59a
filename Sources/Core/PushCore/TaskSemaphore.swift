/// Admits a fixed number of tasks at once. The others wait in the order of their places and their arrival, without holding a
/// thread. Thread-safe.
package final class TaskSemaphore: Sendable {
    private let count: Int
    private let supply: Supply?
    private let state = Locked(State())

    private struct State {
        var admittedCount = 0
        var lastNumber = 0
        /// In the order in which they are admitted.
        var waiting: ArraySlice<Waiting> = []
        var looksAgain = false
    }

    private struct Waiting {
        let place: Int
        let number: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    /// Something that each admitted task takes, such as memory, and that other things take, too.
    package struct Supply: Sendable {
        let take: @Sendable () -> Bool
        let giveBack: @Sendable () -> Void
        let later: @Sendable (@escaping @Sendable () -> Void) -> Void

        /// - Parameters:
        ///   - take: Returns false if there isn't enough left. The task then waits until another leaves.
        ///   - giveBack: Called when a task that took its part leaves.
        ///   - later: Calls a function after a moment. Used if no task is left that could leave.
        package init(
            take: @escaping @Sendable () -> Bool, giveBack: @escaping @Sendable () -> Void,
            later: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
        ) {
            self.take = take
            self.giveBack = giveBack
            self.later = later
        }
    }

    package init(_ count: Int, each supply: Supply? = nil) {
        precondition(count > 0, "a semaphore must admit at least one task")
        self.count = count
        self.supply = supply
    }

    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Does the work once admitted. Lower places come first; for the same place, the earlier caller. Throws the error of
    /// `work`, or `CancellationError` if the task is canceled while it waits.
    package func run<Answer>(at place: Int = 0, _ work: () async throws -> Answer) async throws -> Answer {
        try await enterUnlessCanceled(at: place)
        defer { leave() }
        return try await work()
    }

    /// Returns once admitted, even if the task is canceled. The caller must call ``leave()`` once.
    package func enter() async {
        let number = nextNumber()
        _ = await withCheckedContinuation { wait(Waiting(place: 0, number: number, continuation: $0)) }
    }

    /// Returns true once admitted, or false if the patience runs out first; in that case, don't call ``leave()``.
    package func enter(within patience: Duration) async -> Bool {
        let number = nextNumber()
        var timer: Task<Void, Never>?
        let isIn = await withCheckedContinuation { continuation in
            guard wait(Waiting(place: 0, number: number, continuation: continuation)) else { return }
            timer = Task {
                try? await Task.sleep(for: patience)
                self.giveUp(number)
            }
        }
        timer?.cancel()
        return isIn
    }

    /// Returns once admitted. Throws if the task is canceled first; in that case, don't call ``leave()``.
    package func enterUnlessCanceled(at place: Int = 0) async throws(CancellationError) {
        let number = nextNumber()
        let isIn = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else { return continuation.resume(returning: false) }
                wait(Waiting(place: place, number: number, continuation: continuation))
                // A cancellation in between found nothing to remove.
                if Task.isCancelled { giveUp(number) }
            }
        } onCancel: {
            giveUp(number)
        }
        guard isIn else { throw CancellationError() }
    }

    /// Ends an admitted task's turn, and admits the next.
    package func leave() {
        state.withLock { $0.admittedCount -= 1 }
        supply?.giveBack()
        admit()
    }

    private func nextNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// Returns false if the newcomer was admitted at once.
    @discardableResult private func wait(_ newcomer: Waiting) -> Bool {
        state.withLock { state in
            let before = state.waiting.lastIndex { $0.place <= newcomer.place }
            state.waiting.insert(newcomer, at: before.map { $0 + 1 } ?? state.waiting.startIndex)
        }
        return !admit().contains { $0.number == newcomer.number }
    }

    private func giveUp(_ number: Int) {
        let waiting = state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
        }
        waiting?.continuation.resume(returning: false)
    }

    /// Admits as many tasks as there is room for, and returns them.
    @discardableResult private func admit() -> [Waiting] {
        let (admitted, looksAgain) = state.withLock { state in
            var admitted: [Waiting] = []
            while state.admittedCount < count, !state.waiting.isEmpty, supply?.take() ?? true {
                state.admittedCount += 1
                admitted.append(state.waiting.removeFirst())
            }
            // Nobody will leave, because something else uses the supply.
            let looksAgain = !state.waiting.isEmpty && state.admittedCount == 0 && !state.looksAgain
            if looksAgain { state.looksAgain = true }
            return (admitted, looksAgain)
        }
        for task in admitted { task.continuation.resume(returning: true) }
        if looksAgain {
            supply?.later { [self] in
                state.withLock { $0.looksAgain = false }
                admit()
            }
        }
        return admitted
    }
}
