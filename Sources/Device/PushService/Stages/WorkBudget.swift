package import PushCore

#if os(iOS) || os(visionOS)
internal import os
#endif

/// The limits that all notifications of one process share, so that together they stay within the memory that the system
/// allows. The system terminates an extension that uses more, losing every message that it has opened. A transfer takes
/// 0.25 MB on Linux, and an estimated 0.4 MB in Apple's loader. Work that doesn't get a turn in time is late, like any
/// other part of a notification; the text doesn't wait for it. Source: ContentParts 14.3.
package final class WorkBudget: Sendable {
    let files: TaskSemaphore
    /// For content that didn't fit into a push; separate, so that no slow picture delays a text.
    let overflows: TaskSemaphore
    let receipts: TaskSemaphore
    /// For work that takes a few megabytes for a few milliseconds: drawing a chart, or reading long content.
    package let largeWork: TaskSemaphore

    /// - Parameter availableMemory: Returns how many more bytes the process may take; nil if that is unknown.
    package init(availableMemory: @escaping @Sendable () -> Int? = WorkBudget.memoryBySystem) {
        let memory = SharedMemory(available: availableMemory)
        files = TaskSemaphore(6, each: memory.supply(384 << 10))
        receipts = TaskSemaphore(2, each: memory.supply(384 << 10))
        largeWork = TaskSemaphore(1, each: memory.supply(1 << 20))
        // Counted separately, so that a text doesn't wait for pictures. If need be, two of them take from the reserve.
        overflows = TaskSemaphore(2, each: SharedMemory(available: availableMemory).supply(384 << 10))
    }

    package static let shared = WorkBudget()

    /// Returns what the system reports. Apple's function returns 0 if there is no limit, as in its simulator.
    package static func memoryBySystem() -> Int? {
        #if (os(iOS) || os(visionOS)) && !targetEnvironment(macCatalyst)
        let available = os_proc_available_memory()
        return available == 0 ? nil : Int(available)
        #else
        return nil
        #endif
    }
}
