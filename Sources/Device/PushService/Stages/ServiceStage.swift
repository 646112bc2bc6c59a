public import SealedPush

/// One step of the extension's work on what has opened: it takes the content so far and returns better content.
///
/// Stages never see a push that did not open. What one fails at, or is late with, costs its own part and nothing else:
/// the text is there before the first stage runs, and whatever is better when time is up is shown. An app puts the
/// project's own stages, and its own, into ``ServiceConfiguration/stages``.
///
/// One value may work on several notifications at once, in one process: keep what belongs to one of them in local
/// variables. Memory is shared as well: an extension has 24 MB, 12 on old devices.
public protocol ServiceStage: Sendable {
    /// When it runs among the others.
    var pace: StagePace { get }

    /// Independent pieces of the work, each of which runs, fails and is late for itself.
    func parts(of draft: NotificationDraft) -> [any ServiceStage]

    /// Better content.
    ///
    /// What was changed is merged into the best so far, field by field, so that stages that run at once do not undo one
    /// another. The task is cancelled when time is up; what comes later is dropped.
    ///
    /// - Throws: anything; the log gets the ``StageError``'s code.
    func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft

    /// After the content was handed over, opened or not. The system may suspend the process at any moment from now on.
    func finished(_ result: StageResult, in context: StageContext) async
}

extension ServiceStage {
    public var pace: StagePace { .slow }
    public func parts(of draft: NotificationDraft) -> [any ServiceStage] { [self] }
    public func finished(_ result: StageResult, in context: StageContext) async {}
}

/// When a stage runs.
public enum StagePace: Sendable {
    /// Before all others, one after the other, each within half of the time: they fetch the content itself.
    case first
    /// Then, one after the other, each within two seconds: nothing of theirs waits for a network.
    case quick
    /// Last, all at once, for as long as there is time: network, and heavy work.
    case slow
}

/// What was handed over in the end.
public enum StageResult: Sendable {
    /// The content, with what the stages made of it.
    ///
    /// - Parameter elapsed: from the call of the extension.
    case opened(NotificationDraft, elapsed: Duration)
    /// It did not open.
    case safeDefault(OpenError)
}

/// An error of a stage with a code for the log.
public protocol StageError: Error {
    /// 1 to 32 of `a` to `z`, digits and `-`; nothing of the content.
    var code: String { get }
}
