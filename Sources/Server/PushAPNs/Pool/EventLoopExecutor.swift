internal import NIOCore

/// Runs tasks on the event loop's thread, many per turn, and lets it look at the network at least once in 500 µs.
///
/// SwiftNIO runs everything that was given to `execute` before it reads from the network, also what arrives meanwhile. Tasks that
/// submit one push after another would keep it from ever doing so. It does look before a task that is due later. So after that
/// time, the waiting tasks are delayed by a few microseconds.
///
/// `Sendable` is unchecked, because only the event loop's thread uses the mutable state.
final class EventLoopExecutor: TaskExecutor, @unchecked Sendable {
    private let eventLoop: any EventLoop
    private let jobs = Inbox<UnownedJob>()
    /// When the tasks began that have been running with hardly a pause, and when the last of them ended.
    private var turn = (start: NIODeadline.distantPast, end: NIODeadline.distantPast)
    private static let longestTurn = TimeAmount.microseconds(500)

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func enqueue(_ job: consuming ExecutorJob) {
        if jobs.append(UnownedJob(job)) { eventLoop.execute { self.run() } }
    }

    private func run() {
        let now = NIODeadline.now()
        if now - turn.end > Self.longestTurn { turn.start = now }
        guard now - turn.start > Self.longestTurn else { return runJobs() }
        eventLoop.scheduleTask(in: .microseconds(5)) {
            self.turn.start = .now()
            self.runJobs()
        }
    }

    /// Jobs that these add are run later, once the pushes that they submit have been written.
    private func runJobs() {
        for job in jobs.drain() { job.runSynchronously(on: asUnownedTaskExecutor()) }
        turn.end = .now()
    }
}
