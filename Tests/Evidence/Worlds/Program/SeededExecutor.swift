import Glibc
import Interposed
import TestSupport
// The only way to replace the executors of tasks and of the main actor. Swift 6.3 has it, but not yet in its stable API.
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

/// Runs every task of the process on one thread, one job at a time, in an order that a seed decides. A task that sleeps waits
/// for the world's time, which passes only in ``advance(by:)``.
///
/// It replaces the runtime's own executors, so `Task`, actors, the main actor, task groups, and `Task.sleep` need no change.
/// Threads and Dispatch queues aren't its own. A job must wait for them, so that nothing runs at the same time.
final class SeededExecutor: TaskExecutor, SchedulingExecutor, @unchecked Sendable {
    static let shared = SeededExecutor()

    private var jobs: [UnownedJob] = []
    /// The main actor's jobs, which run in order, as on a device.
    private var mainJobs = ArraySlice<UnownedJob>()
    /// A heap by time and number.
    private var timers: [Timer] = []
    private var lastNumber = 0
    private var random = SeededGenerator(seed: 0)
    private let thread = pthread_self()
    private(set) var jobCount = 0
    /// Whether jobs kept making others without letting time pass.
    private(set) var isRestless = false
    private static let restlessCount = 100_000

    private struct Timer {
        let time: Int64
        let number: Int
        let job: UnownedJob

        func isBefore(_ other: Timer) -> Bool { (time, number) < (other.time, other.number) }
    }

    /// Replaces the runtime's executors. Must be called before the first task.
    static func install() { _createExecutors(factory: Factory.self) }

    func seed(_ seed: UInt64) {
        precondition(isIdle, "an earlier world's tasks are still waiting")
        random = SeededGenerator(seed: seed)
        jobCount = 0
        isRestless = false
        lastNumber = 0
    }

    /// Forgets all tasks, which stay in memory: a world that broke its promise to end mustn't disturb the next one.
    func abandon() { (jobs, mainJobs, timers) = ([], [], []) }

    var isIdle: Bool { hasNoJobs && timers.isEmpty }
    private var hasNoJobs: Bool { jobs.isEmpty && mainJobs.isEmpty }

    /// Runs jobs until none is left that can run now, or until the limit. Returns whether none is left.
    @discardableResult func run(upTo limit: Int = .max) -> Bool {
        for count in 0..<limit {
            guard !hasNoJobs else { return true }
            if count == Self.restlessCount {
                isRestless = true
                return false
            }
            let choice = Int.random(in: 0..<jobs.count + (mainJobs.isEmpty ? 0 : 1), using: &random)
            jobCount += 1
            if choice == jobs.count {
                mainJobs.removeFirst().runSynchronously(on: MainThread.shared.asUnownedSerialExecutor())
            } else {
                jobs.swapAt(choice, jobs.count - 1)
                jobs.removeLast().runSynchronously(on: asUnownedTaskExecutor())
            }
        }
        return hasNoJobs
    }

    /// Lets time pass, and runs everything that becomes due on the way.
    func advance(by duration: Duration) {
        let end = world_uptime + duration.nanoseconds
        run()
        while !isRestless, let next = timers.first?.time, next <= end {
            pass(to: next)
            while let timer = timers.first, timer.time <= next { jobs.append(removeFirst(timer).job) }
            run()
        }
        pass(to: end)
    }

    /// Lets time pass until no task is left. Returns whether that took no longer than the limit.
    func finish(within limit: Duration) -> Bool {
        let end = world_uptime + limit.nanoseconds
        run()
        while !isRestless, let next = timers.first?.time {
            guard next <= end else { return false }
            advance(by: .nanoseconds(max(0, next - world_uptime)))
        }
        return !isRestless
    }

    private func pass(to uptime: Int64) {
        guard uptime > world_uptime else { return }
        world_wall_time += uptime - world_uptime
        world_uptime = uptime
    }

    // MARK: Jobs

    func enqueue(_ job: consuming ExecutorJob) { add(UnownedJob(job), isMain: false) }

    fileprivate func add(_ job: UnownedJob, isMain: Bool) {
        precondition(pthread_equal(pthread_self(), thread) != 0, "a job comes from another thread")
        if isMain { mainJobs.append(job) } else { jobs.append(job) }
    }

    func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
    ) {
        guard let delay = delay as? Duration else { preconditionFailure("an unknown clock") }
        add(UnownedJob(job), after: delay)
    }

    func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
    ) {
        guard let delay = clock.now.duration(to: instant) as? Duration else { preconditionFailure("an unknown clock") }
        add(UnownedJob(job), after: delay)
    }

    private func add(_ job: UnownedJob, after delay: Duration) {
        precondition(pthread_equal(pthread_self(), thread) != 0, "a job comes from another thread")
        lastNumber += 1
        timers.append(Timer(time: world_uptime + max(0, delay.nanoseconds), number: lastNumber, job: job))
        var child = timers.count - 1
        while child > 0, timers[child].isBefore(timers[(child - 1) / 2]) {
            timers.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private func removeFirst(_ first: Timer) -> Timer {
        timers.swapAt(0, timers.count - 1)
        timers.removeLast()
        var parent = 0
        while true {
            let child = 2 * parent + 1
            guard child < timers.count else { return first }
            let hasSmaller = child + 1 < timers.count && timers[child + 1].isBefore(timers[child])
            let least = hasSmaller ? child + 1 : child
            guard timers[least].isBefore(timers[parent]) else { return first }
            timers.swapAt(parent, least)
            parent = least
        }
    }

    private struct Factory: ExecutorFactory {
        static var mainExecutor: any MainExecutor { MainThread.shared }
        static var defaultExecutor: any TaskExecutor { SeededExecutor.shared }
    }
}

/// The main actor's executor: the same thread and the same queue.
private final class MainThread: MainExecutor {
    static let shared = MainThread()

    func enqueue(_ job: consuming ExecutorJob) { SeededExecutor.shared.add(UnownedJob(job), isMain: true) }
    func run() {}
    func stop() {}
    func checkIsolated() {}
}

extension Duration {
    /// The duration in nanoseconds, at most a century.
    var nanoseconds: Int64 {
        let (seconds, rest) = components
        guard abs(seconds) < 100 * 365 * 86_400 else { return seconds < 0 ? -.max / 4 : .max / 4 }
        return seconds * 1_000_000_000 + rest / 1_000_000_000
    }
}
