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

/// The limits that all notifications of one process share, so that together they stay within the memory that the system
/// allows. The system terminates an extension that uses more, losing every message that it has opened. A transfer takes
/// 0.25 MB on Linux, and an estimated 0.4 MB in Apple's loader. Work that doesn't get a turn in time is late, like any
/// other part of a notification; the text doesn't wait for it. Source: Specification 14.3.
package final class WorkBudget: Sendable {
    let files: Turns
    /// For content that didn't fit into a push; separate, so that no slow picture delays a text.
    let overflows: Turns
    let receipts: Turns
    /// For work that takes a few megabytes for a few milliseconds: drawing a chart, or reading long content.
    package let largeWork: Turns

    /// - Parameter availableMemory: Returns how many more bytes the process may take; nil if that is unknown.
    package init(availableMemory: @escaping @Sendable () -> Int? = WorkBudget.memoryBySystem) {
        let memory = SharedMemory(available: availableMemory)
        files = Turns(width: 6, memory: memory, each: 384 << 10)
        receipts = Turns(width: 2, memory: memory, each: 384 << 10)
        largeWork = Turns(width: 1, memory: memory, each: 1 << 20)
        // Counted separately, so that a text doesn't wait for pictures. If need be, two of them take from the reserve.
        overflows = Turns(width: 2, memory: SharedMemory(available: availableMemory), each: 384 << 10)
    }

    package static let shared = WorkBudget()

    /// Returns what the system reports. Apple's function returns 0 if there is no limit, as in its simulator.
    package static func memoryBySystem() -> Int? {
        #if (os(iOS) || os(visionOS)) && !targetEnvironment(macCatalyst)
            let available = os_proc_available_memory()
            return available == 0 ? nil : Int(available)
        #else
            return nil
        #endif
    }
}

/// The part of the process's memory that work in progress may still take. Thread-safe.
package final class SharedMemory: Sendable {
    private let available: @Sendable () -> Int?
    private let promisedByteCount = Locked(0)

    /// The memory left for opening, and for the system's own code.
    private static let reserve = 1 << 20

    init(available: @escaping @Sendable () -> Int?) { self.available = available }

    /// Returns false if less than the reserve would be left. Counts memory that is promised but not yet used.
    func take(_ byteCount: Int) -> Bool {
        promisedByteCount.withLock { promised in
            if let available = available(), available < Self.reserve + promised + byteCount { return false }
            promised += byteCount
            return true
        }
    }

    func giveBack(_ byteCount: Int) { promisedByteCount.withLock { $0 -= byteCount } }
}

/// Runs stages on threads made as needed, so that one that blocks its thread doesn't hold up the others or the deadline.
enum StageExecutor {
    /// Starts work on dedicated threads. Before iOS 18, it shares the few threads of the concurrency runtime: a stage
    /// that blocks one may delay others, but not the deadline, which is a Dispatch timer.
    @discardableResult static func start(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        if #available(iOS 18, macCatalyst 18, macOS 15, visionOS 2, *) {
            Task(executorPreference: ThreadExecutor.shared, operation: work)
        } else {
            Task(operation: work)
        }
    }

    /// Runs `work` once the time is up, unless canceled first.
    static func timer(after time: Duration, _ work: @escaping @Sendable () -> Void) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue())
        timer.schedule(deadline: .now() + time / .seconds(1))
        timer.setEventHandler(handler: work)
        timer.resume()
        return timer
    }

    /// Returns a queue for one piece of work. A serial queue always gets a thread; others wait for a free one.
    static func queue() -> DispatchQueue { DispatchQueue(label: "sealed-push", qos: .userInitiated) }
}

@available(iOS 18, macCatalyst 18, macOS 15, visionOS 2, *)
private final class ThreadExecutor: TaskExecutor {
    static let shared = ThreadExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        StageExecutor.queue().async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
