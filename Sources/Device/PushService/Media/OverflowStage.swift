internal import PushCore
import SealedPush

/// Fetches the whole content if a message was too large for one push; if that fails, its first part is shown. Runs before
/// all other stages, in at most half of the time. Source: ContentParts 18.1.
public struct OverflowStage: ServiceStage {
    private let reach: NetworkReach

    /// Creates a stage that fetches only from the open internet, unless the app allows more. Always uses `https`.
    public init(reaching reach: NetworkReach = .internet) { self.reach = reach }

    /// First, because it fetches the content itself.
    public var pace: StagePace { .first }

    /// Returns the stage itself if there is more to fetch; otherwise none.
    public func parts(of draft: NotificationDraft) -> [any ServiceStage] {
        draft.opened.content.overflow == nil ? [] : [self]
    }

    /// Returns a draft of the whole content.
    public func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
        guard let overflow = draft.opened.content.overflow else { return draft }
        let bytes = try await context.budget.overflows.run { try await fetch(overflow, in: context) }
        // Reading hostile content takes a few megabytes.
        let opened = try await context.budget.largeWork.run { draft.opened.completed(by: bytes) }
        guard let opened else { throw MediaError.otherContent }
        return NotificationDraft(opened, completing: draft)
    }

    private func fetch(_ overflow: Overflow, in context: StageContext) async throws -> [UInt8] {
        // At most 64 KiB, because the length was checked when the overflow was read.
        let bytes = Locked<[UInt8]>([])
        try await context.download(overflow.file, reaching: reach) {
            (piece) throws(AttachmentError) in bytes.withLock { $0.append(contentsOf: piece) }
        }
        return bytes.withLock { $0 }
    }
}
