internal import SealedPush

/// Gives a message without a body one of the app's own, such as for messages that are just a picture.
public struct DefaultBodyStage: ServiceStage {
    private let body: String

    /// Creates a stage with the text to use, translated in the extension's bundle.
    public init(_ body: String) { self.body = body }

    /// Quick, because the text is at hand.
    public var pace: StagePace { .quick }

    /// Returns the draft, with the stage's text if it has no visible body.
    public func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
        var draft = draft
        if !VisibleText.isVisible(draft.body) { draft.body = body }
        return draft
    }
}
