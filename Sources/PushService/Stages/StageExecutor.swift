import Dispatch

/// Runs stages on threads that the system makes as they are needed, so that one that blocks its thread takes none from
/// the others, nor from the deadline.
enum StageExecutor {
    /// Starts work on threads of its own. Before iOS 18 it shares the few threads of the concurrency runtime: a stage that
    /// blocks one may then delay others, but not the deadline, which is a timer of Dispatch's.
    @discardableResult
    static func start(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        if #available(iOS 18, macCatalyst 18, macOS 15, visionOS 2, watchOS 11, tvOS 18, *) {
            Task(executorPreference: ThreadExecutor.shared, operation: work)
        } else {
            Task(operation: work)
        }
    }

    /// A queue for one piece of work. A serial queue gets a thread whatever the others do; a concurrent one, and the global
    /// ones, wait for a free one.
    static func queue() -> DispatchQueue { DispatchQueue(label: "sealed-push", qos: .userInitiated) }
}

@available(iOS 18, macCatalyst 18, macOS 15, visionOS 2, watchOS 11, tvOS 18, *)
private final class ThreadExecutor: TaskExecutor {
    static let shared = ThreadExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        StageExecutor.queue().async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
