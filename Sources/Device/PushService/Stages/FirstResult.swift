internal import PushCore

/// The first of several competing results: that of the work, its deadline, or its task's cancellation. Thread-safe;
/// only one task may wait.
final class FirstResult<Success: Sendable, Failure: Error>: Sendable {
    private let state = Locked(State())

    private struct State {
        var result: Result<Success, Failure>?
        var waiting: CheckedContinuation<Result<Success, Failure>, Never>?
    }

    var isSettled: Bool { state.withLock { $0.result != nil } }

    /// Sets the result. Returns false if there already was one.
    @discardableResult func settle(_ result: Result<Success, Failure>) -> Bool {
        let (isFirst, waiting) = state.withLock { state in
            let isFirst = state.result == nil
            if isFirst { state.result = result }
            return (isFirst, state.waiting.take())
        }
        waiting?.resume(returning: result)
        return isFirst
    }

    /// Waits for the first result, which is `failure` once the task is canceled.
    func value(orCanceled failure: Failure) async throws(Failure) -> Success {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result = state.withLock { state in
                    if state.result == nil { state.waiting = continuation }
                    return state.result
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            settle(.failure(failure))
        }
        return try result.get()
    }
}
