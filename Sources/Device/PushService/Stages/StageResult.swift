public import SealedPush

/// The result that was handed over.
public enum StageResult: Sendable {
    /// The content, with the stages' changes, and the time since the extension's call.
    case opened(NotificationDraft, elapsed: Duration)
    /// The safe default, because the push didn't open.
    case safeDefault(OpenError)
}
