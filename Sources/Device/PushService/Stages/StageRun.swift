import Dispatch
internal import PushCore
import SealedPush

/// A part that fetches a file, and is begun when it has a turn.
protocol QueuedStage: ServiceStage {
    /// Lower ones have their turns first, those of all notifications together.
    var place: Int { get }
}

/// All stages' work on one notification: first, quick, then all slow ones at once.
struct StageRun: Sendable {
    private let stages: [any ServiceStage]
    private let context: StageContext
    private let best: Locked<NotificationDraft>
    private let keep: @Sendable (NotificationDraft) -> Bool
    private let fail: @Sendable (any ServiceStage, any Error) -> Void
    private let drop: @Sendable (NotificationDraft) -> Void

    /// - Parameters:
    ///   - keep: is called with the best so far after each part; false where it came too late.
    ///   - fail: is called for each part that failed or was late.
    ///   - drop: is called with what came too late to be shown.
    init(
        _ draft: NotificationDraft, stages: [any ServiceStage], context: StageContext,
        keep: @escaping @Sendable (NotificationDraft) -> Bool,
        fail: @escaping @Sendable (any ServiceStage, any Error) -> Void,
        drop: @escaping @Sendable (NotificationDraft) -> Void
    ) {
        self.stages = stages
        self.context = context
        best = Locked(draft)
        self.keep = keep
        self.fail = fail
        self.drop = drop
    }

    /// Returns when every part is done or late; soon after a cancellation.
    func run() async {
        for stage in stages(.first) {
            for part in stage.parts(of: best.withLock { $0 }) { await attempt(part, within: context.timeLeft / 2) }
        }
        for stage in stages(.quick) {
            for part in stage.parts(of: best.withLock { $0 }) { await attempt(part, within: Self.quickTime) }
        }
        let draft = best.withLock { $0 }
        await withTaskGroup(of: Void.self) { group in
            let parts = stages(.slow).flatMap { $0.parts(of: draft) }
            for part in parts where !(part is any QueuedStage) {
                group.addTask { await attempt(part, within: context.timeLeft) }
            }
            for case let part as any QueuedStage in parts {
                // Before anything of it is begun: what waits costs no more than one waiting task a notification.
                do { try await context.budget.files.begin(at: part.place) } catch {
                    fail(part, StageLateness())
                    continue
                }
                group.addTask {
                    await attempt(part, within: context.timeLeft)
                    context.budget.files.end()
                }
            }
        }
    }

    private func stages(_ pace: StagePace) -> [any ServiceStage] { stages.filter { $0.pace == pace } }

    private func attempt(_ part: any ServiceStage, within time: Duration) async {
        guard !Task.isCancelled else { return }
        let given = best.withLock { $0 }
        let context = context.limited(to: .now + time)
        let result = await StageAttempt.run(part, on: given, in: context, late: drop)
        switch result {
        case .success(let returned):
            // Under the lock, so that no two parts' drafts are kept in the wrong order.
            let isKept = best.withLock { best in
                best.merge(returned, givenTo: given)
                return keep(best)
            }
            if !isKept { drop(returned) }
        case .failure(let error): fail(part, error)
        }
    }

    static let quickTime = Duration.seconds(2)
}

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
    @discardableResult private func settle(_ result: Result<NotificationDraft, any Error>) -> Bool {
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

struct StageLateness: StageError { let code = "late" }
