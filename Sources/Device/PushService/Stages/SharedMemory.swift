import Dispatch
internal import PushCore

/// The part of the process's memory that work in progress may still take. Thread-safe.
final class SharedMemory: Sendable {
    private let available: @Sendable () -> Int?
    private let promisedByteCount = Locked(0)

    /// The memory left for opening, and for the system's own code.
    private static let reserve = 1 << 20

    init(available: @escaping @Sendable () -> Int?) { self.available = available }

    /// Returns false if less than the reserve would be left. Counts memory that is promised but not yet used.
    func take(_ byteCount: Int) -> Bool {
        promisedByteCount.withLock { promised in
            if let available = available(), available < Self.reserve + promised + byteCount { return false }
            promised += byteCount
            return true
        }
    }

    func giveBack(_ byteCount: Int) { promisedByteCount.withLock { $0 -= byteCount } }

    /// Returns what a semaphore takes for each piece of work. If memory is short, it asks again 50 ms later.
    func supply(_ byteCount: Int) -> TaskSemaphore.Supply {
        TaskSemaphore.Supply(
            take: { self.take(byteCount) }, giveBack: { self.giveBack(byteCount) },
            later: { StageExecutor.queue().asyncAfter(deadline: .now() + .milliseconds(50), execute: $0) })
    }
}
