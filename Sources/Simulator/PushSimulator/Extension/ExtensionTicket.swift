internal import Dispatch
internal import PushCore

/// A handle with which the submitter of a request waits for its result.
final class ExtensionTicket: Sendable {
    private let finished = Locked<ExtensionResult?>(nil)
    private let isDone = DispatchSemaphore(value: 0)

    /// Sets the result. Only the first one counts.
    func complete(_ result: ExtensionResult) {
        finished.withLock { $0 = $0 ?? result }
        isDone.signal()
    }

    func wait() -> ExtensionResult {
        while true {
            isDone.wait()
            if let result { return result }
        }
    }

    /// Returns the result, or nil if there is none in time.
    func wait(for time: Duration) -> ExtensionResult? {
        _ = isDone.wait(timeout: .now() + time / .seconds(1))
        return result
    }

    var result: ExtensionResult? { finished.withLock { $0 } }
}
