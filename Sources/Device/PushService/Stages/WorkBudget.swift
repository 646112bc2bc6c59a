import Dispatch
internal import PushCore

#if os(iOS) || os(visionOS) || os(watchOS) || os(tvOS)
    internal import os
#endif

/// What all notifications that one process works on share, so that together they stay within the memory that the system
/// gives it: an extension that has more is ended, with every message that it has opened.
///
/// A transfer holds 0.25 MB on Linux, and 0.4 by estimate in Apple's loader. What gets no turn while there is time is late,
/// like any other part of a notification; the text waits for none of it. Source: Specification 14.3.
package final class WorkBudget: Sendable {
    /// Files that are shown.
    let files: Turns
    /// Contents that did not fit into a push: apart, so that no slow picture keeps a text back.
    let overflows: Turns
    /// Runs of posting receipts.
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

    /// This process's.
    package static let shared = WorkBudget()

    /// What the system says. Apple's function answers 0 where there is no limit, as in its simulator.
    package static func memoryBySystem() -> Int? {
        #if (os(iOS) || os(visionOS) || os(watchOS) || os(tvOS)) && !targetEnvironment(macCatalyst)
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
