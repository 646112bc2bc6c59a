internal import NIOCore
import NIOPosix

/// The threads for callers that may be many or hostile.
final class Crowd: TaskExecutor {
    static let group = MultiThreadedEventLoopGroup(numberOfThreads: System.coreCount)
    static let executor = Crowd()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Self.group.any().execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
