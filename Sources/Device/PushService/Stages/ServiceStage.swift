/// One step of the extension's work on opened content: it takes the content so far and returns better content.
///
/// Stages never see a push that didn't open. A stage that fails or is late loses only its own part. The text is ready
/// before the first stage runs, and the best content is shown when time is up. An app lists this package's stages and its
/// own in ``ServiceConfiguration/stages``.
///
/// One value may work on several notifications at once in one process, so keep a notification's data in local variables.
/// Memory is shared, too: an extension has 24 MB, or 12 MB on old devices.
public protocol ServiceStage: Sendable {
    /// When the stage runs, relative to the others.
    var pace: StagePace { get }

    /// Returns independent pieces of the work, each of which runs, fails, or misses its deadline on its own.
    func parts(of draft: NotificationDraft) -> [any ServiceStage]

    /// Returns better content.
    ///
    /// Changes are merged into the best content so far, field by field, so that stages that run at once don't undo
    /// each other's work. The task is canceled when time is up, and later results are dropped.
    ///
    /// - Throws: Any error; the log gets the ``StageError``'s code.
    func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft

    /// Runs after the handover, even of the safe default. The system is asked not to suspend the process, but still may.
    func finished(_ result: StageResult, in context: StageContext) async
}

extension ServiceStage {
    /// Slow, by default.
    public var pace: StagePace { .slow }
    /// Returns the stage itself as the only part, by default.
    public func parts(of draft: NotificationDraft) -> [any ServiceStage] { [self] }
    /// Returns the draft unchanged, by default.
    public func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
        draft
    }
    /// Does nothing, by default.
    public func finished(_ result: StageResult, in context: StageContext) async {}
}
