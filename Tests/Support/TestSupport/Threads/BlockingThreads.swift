internal import Dispatch
internal import Foundation
import PushCore
public import Testing

/// Threads for tasks that block: a new one starts whenever all others are busy.
final class BlockingThreads: TaskExecutor {
    static let shared = BlockingThreads()
    /// Admits as many tests as keep the processors busy while most of them wait.
    static let gate = Gate(width: 4 * ProcessInfo.processInfo.activeProcessorCount)

    private let state = Locked(State())
    private let work = DispatchSemaphore(value: 0)

    private struct State {
        var jobs: [UnownedJob] = []
        var threadCount = 0
        var idleCount = 0
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            guard state.jobs.count > state.idleCount, state.threadCount < Self.maximumCount else { return false }
            state.threadCount += 1
            state.idleCount += 1
            return true
        }
        if needsThread { Thread.detachNewThread { [self] in run() } }
        work.signal()
    }

    private func run() {
        while true {
            work.wait()
            let job = state.withLock { state in
                state.idleCount -= 1
                return state.jobs.removeFirst()
            }
            job.runSynchronously(on: asUnownedTaskExecutor())
            state.withLock { $0.idleCount += 1 }
        }
    }

    private static let maximumCount = 64
}

/// A semaphore that admits a limited number of tasks at a time, in order of arrival.
package final class Gate: Sendable {
    private let state: Locked<State>

    private struct State {
        var freeCount: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    package init(width: Int) { state = Locked(State(freeCount: width)) }

    package func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.freeCount == 0 {
                    state.waiting.append(continuation)
                    return false
                }
                state.freeCount -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    /// Passes the place on to the next task.
    package func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.freeCount += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}

/// For tests that block: that wait for a process, a lock, or a thread, or that read a pipe.
///
/// Swift's tasks share as many threads as the machine has processors. With two processors, a blocking test takes half the
/// threads of all other tests in the process. Two such tests stop everything else: servers in the process stop answering,
/// and deadlines pass. With this trait, a test's whole task runs on separate threads.
public struct BlockingTrait: SuiteTrait, TestTrait, TestScoping {
    public let isRecursive = true

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        await BlockingThreads.gate.enter()
        defer { BlockingThreads.gate.leave() }
        try await withTaskExecutorPreference(BlockingThreads.shared) { try await function() }
    }
}

extension Trait where Self == BlockingTrait {
    /// Runs the test, or each test of the suite, on separate threads, because it blocks.
    public static var blocking: Self { Self() }
}
