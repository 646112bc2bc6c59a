import Dispatch
internal import PushCore

#if os(iOS) || os(visionOS)
    internal import os
#endif

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

/// What all notifications that one process works on share, so that together they stay within the memory that the system
/// gives it: an extension that has more is ended, with every message that it has opened.
///
/// A transfer holds 0.25 MB on Linux, and 0.4 by estimate in Apple's loader. What gets no turn while there is time is late,
/// like any other part of a notification; the text waits for none of it. Source: Specification 14.3.
package final class WorkBudget: Sendable {
    let files: Turns
    /// Contents that did not fit into a push: apart, so that no slow picture keeps a text back.
    let overflows: Turns
    let receipts: Turns
    /// What takes some megabytes for some milliseconds: drawing a chart, reading a long content.
    package let largeWork: Turns

    /// - Parameter availableMemory: how many bytes more the process may take; nil where nobody knows.
    package init(availableMemory: @escaping @Sendable () -> Int? = WorkBudget.memoryBySystem) {
        let memory = SharedMemory(available: availableMemory)
        files = Turns(width: 6, memory: memory, each: 384 << 10)
        receipts = Turns(width: 2, memory: memory, each: 384 << 10)
        largeWork = Turns(width: 1, memory: memory, each: 1 << 20)
        // Counted apart: a text waits for no picture. What two take comes out of the reserve, if need be.
        overflows = Turns(width: 2, memory: SharedMemory(available: availableMemory), each: 384 << 10)
    }

    package static let shared = WorkBudget()

    /// What the system says. Apple's function answers 0 where there is no limit, as in its simulator.
    package static func memoryBySystem() -> Int? {
        #if (os(iOS) || os(visionOS)) && !targetEnvironment(macCatalyst)
            let available = os_proc_available_memory()
            return available == 0 ? nil : Int(available)
        #else
            return nil
        #endif
    }
}

/// How much of the process's memory work under way may still come to take. Safe from several threads.
package final class SharedMemory: Sendable {
    private let available: @Sendable () -> Int?
    private let promisedByteCount = Locked(0)

    /// What is left for opening, and for what the system's own code takes unseen.
    private static let reserve = 1 << 20

    init(available: @escaping @Sendable () -> Int?) { self.available = available }

    /// False where it would leave less than the reserve. Work that has just begun has not taken its part yet: so all that was
    /// promised counts, beside what is available.
    func take(_ byteCount: Int) -> Bool {
        promisedByteCount.withLock { promised in
            if let available = available(), available < Self.reserve + promised + byteCount { return false }
            promised += byteCount
            return true
        }
    }

    func giveBack(_ byteCount: Int) { promisedByteCount.withLock { $0 -= byteCount } }
}

/// Runs stages on threads that the system makes as they are needed, so that one that blocks its thread takes none from
/// the others, nor from the deadline.
enum StageExecutor {
    /// Starts work on threads of its own. Before iOS 18 it shares the few threads of the concurrency runtime: a stage that
    /// blocks one may then delay others, but not the deadline, which is a timer of Dispatch's.
    @discardableResult static func start(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        if #available(iOS 18, macCatalyst 18, macOS 15, visionOS 2, *) {
            Task(executorPreference: ThreadExecutor.shared, operation: work)
        } else {
            Task(operation: work)
        }
    }

    /// Runs `work` once the time is over, unless it is cancelled before.
    static func timer(after time: Duration, _ work: @escaping @Sendable () -> Void) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue())
        timer.schedule(deadline: .now() + time / .seconds(1))
        timer.setEventHandler(handler: work)
        timer.resume()
        return timer
    }

    /// A queue for one piece of work. A serial queue gets a thread whatever the others do; a concurrent one, and the global
    /// ones, wait for a free one.
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
