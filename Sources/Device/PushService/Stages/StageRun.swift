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
