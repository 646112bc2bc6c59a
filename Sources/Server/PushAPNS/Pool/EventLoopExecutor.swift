internal import NIOCore
internal import PushCore

/// Runs tasks on the event loop's thread, many in one turn of it.
final class EventLoopExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isScheduled = false
    }

    private let eventLoop: any EventLoop
    private let state = Locked(State())

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let mustSchedule = state.withLock { state in
            state.jobs.append(job)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if mustSchedule { eventLoop.execute { self.run() } }
    }

    /// What these jobs bring about waits for the next turn, so that the network gets its own.
    private func run() {
        let jobs = state.withLock { state in
            defer { state = State() }
            return state.jobs
        }
        for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
