import Dispatch

/// Runs stages on threads that the system makes as they are needed, so that one that blocks its thread takes none from
/// the others, nor from the deadline.
///
/// A serial queue gets a thread whatever the others do; a concurrent one, and the global ones, wait for a free one.
final class StageExecutor: TaskExecutor {
    static let shared = StageExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Self.queue().async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// A queue for one piece of work.
    static func queue() -> DispatchQueue { DispatchQueue(label: "sealed-push", qos: .userInitiated) }
}
