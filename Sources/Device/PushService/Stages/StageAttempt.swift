import Dispatch
internal import PushCore

/// One stage's work, given up when its time is over, whether or not it heeds its cancellation.
final class StageAttempt: Sendable {
    private let state = Locked(State())

    private struct State {
        var continuation: CheckedContinuation<Result<NotificationDraft, any Error>, Never>?
        var early: Result<NotificationDraft, any Error>?
        var isDone = false
    }

    /// Runs `stage` until its context's deadline, at the latest; an error where it fails, or is late.
    ///
    /// - Parameter late: is given what comes after all.
    static func run(
        _ stage: any ServiceStage, on draft: NotificationDraft, in context: StageContext,
        late: @escaping @Sendable (NotificationDraft) -> Void
    ) async -> Result<NotificationDraft, any Error> {
        let attempt = StageAttempt()
        let work = StageExecutor.start {
            let result: Result<NotificationDraft, any Error>
            do { result = .success(try await stage.improve(draft, in: context)) } catch { result = .failure(error) }
            if !attempt.settle(result), case .success(let draft) = result { late(draft) }
        }
        let timer = DispatchSource.makeTimerSource(queue: StageExecutor.queue())
        timer.schedule(deadline: .now() + context.timeLeft / .seconds(1))
        timer.setEventHandler { attempt.settle(.failure(StageLateness())) }
        timer.resume()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { attempt.wait($0) }
        } onCancel: {
            attempt.settle(.failure(CancellationError()))
        }
        timer.cancel()
        work.cancel()
        return result
    }

    private func wait(_ continuation: CheckedContinuation<Result<NotificationDraft, any Error>, Never>) {
        let early = state.withLock { state in
            if state.early == nil { state.continuation = continuation }
            return state.early
        }
        if let early { continuation.resume(returning: early) }
    }

    /// False where it was settled before.
    @discardableResult
    private func settle(_ result: Result<NotificationDraft, any Error>) -> Bool {
        let (isFirst, continuation) = state.withLock { state in
            guard !state.isDone else {
                return (false, nil as CheckedContinuation<Result<NotificationDraft, any Error>, Never>?)
            }
            state.isDone = true
            if state.continuation == nil { state.early = result }
            defer { state.continuation = nil }
            return (true, state.continuation)
        }
        continuation?.resume(returning: result)
        return isFirst
    }
}

/// A stage was not ready in time.
struct StageLateness: StageError {
    let code = "late"
}
