import Dispatch

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
final class ThreadExecutor: TaskExecutor {
    static let shared = ThreadExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        StageExecutor.queue().async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
