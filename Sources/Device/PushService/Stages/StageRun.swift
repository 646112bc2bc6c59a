import Dispatch
internal import PushCore

/// All stages' work on one notification: the first ones, the quick ones, then all the slow ones at once.
struct StageRun: Sendable {
    let stages: [any ServiceStage]
    let context: StageContext
    let handover: NotificationHandover
    let opening: PushOpening
    let scratch: ScratchFolder

    /// Returns when every part is done or late, or soon after the notification was shown or the task was canceled.
    func run() async {
        for stage in stages(.first) {
            for part in parts(of: stage) { await attempt(part, within: context.timeLeft / 2) }
        }
        for stage in stages(.quick) {
            for part in parts(of: stage) { await attempt(part, within: Self.quickTime) }
        }
        await withTaskGroup(of: Void.self) { group in
            let parts = stages(.slow).flatMap(parts)
            for part in parts where part.filePosition == nil {
                group.addTask { await attempt(part, within: context.timeLeft) }
            }
            for part in parts {
                guard let position = part.filePosition else { continue }
                // Wait before starting any of it, so that waiting work costs only one task per notification.
                do { try await context.budget.files.enterUnlessCanceled(at: position) } catch {
                    opening.logFailure(of: part, StageLateness())
                    continue
                }
                group.addTask {
                    await attempt(part, within: context.timeLeft)
                    context.budget.files.leave()
                }
            }
        }
    }

    private func stages(_ pace: StagePace) -> [any ServiceStage] { stages.filter { $0.pace == pace } }

    /// Returns a stage's parts for the best draft so far, or none once it's shown.
    private func parts(of stage: any ServiceStage) -> [any ServiceStage] {
        handover.draft.map { stage.parts(of: $0) } ?? []
    }

    private func attempt(_ part: any ServiceStage, within time: Duration) async {
        guard !Task.isCancelled, let given = handover.draft else { return }
        do {
            let returned = try await improve(given, by: part, in: context.limited(to: .now + time))
            if !handover.change({ $0.merge(returned, givenTo: given) }) { drop(returned) }
        } catch { opening.logFailure(of: part, error) }
    }

    /// Runs one part, and abandons it when its time is up, whether or not it responds to its cancellation.
    private func improve(
        _ draft: NotificationDraft, by part: any ServiceStage, in context: StageContext
    ) async throws -> NotificationDraft {
        let first = FirstResult<NotificationDraft, any Error>()
        let end = SystemLog.beginStage()
        defer { end() }
        let work = StageExecutor.start {
            do {
                let improved = try await part.improve(draft, in: context)
                if !first.settle(.success(improved)) { drop(improved) }
            } catch { first.settle(.failure(error)) }
        }
        let timer = StageExecutor.timer(after: context.timeLeft) { first.settle(.failure(StageLateness())) }
        defer {
            timer.cancel()
            work.cancel()
        }
        return try await first.value(orCanceled: CancellationError())
    }

    private func drop(_ draft: NotificationDraft) { scratch.remove(draft.attachments.map(\.file)) }

    static let quickTime = Duration.seconds(2)
}

struct StageLateness: StageError { let code = "late" }
