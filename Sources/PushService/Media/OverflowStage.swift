internal import SealedPush
internal import _PushBase

/// Fetches the whole content where a message was too large for one push; its first part is shown where that fails.
///
/// Before all other stages, in half of the time at most. Source: Specification 14.5.
public struct OverflowStage: ServiceStage {
    private let allowsPrivateAddresses: Bool

    /// - Parameter allowsPrivateAddresses: true where the files lie on a private network that the phone is in. Still `https`.
    public init(allowsPrivateAddresses: Bool = false) { self.allowsPrivateAddresses = allowsPrivateAddresses }

    public var pace: StagePace { .first }

    public func parts(of draft: NotificationDraft) -> [any ServiceStage] {
        draft.opened.content.overflow == nil ? [] : [self]
    }

    public func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
        guard let overflow = draft.opened.content.overflow else { return draft }
        let bytes = try await context.budget.overflows.take { try await fetch(overflow, in: context) }
        // Reading it takes some megabytes where it is hostile.
        let opened = try await context.budget.largeWork.take { draft.opened.completed(by: bytes) }
        guard let opened else { throw MediaError.otherContent }
        return NotificationDraft(opened, isRepeat: draft.isRepeat)
    }

    private func fetch(_ overflow: Overflow, in context: StageContext) async throws -> [UInt8] {
        // At most 64 KiB: the length was checked when the overflow was read.
        let bytes = Locked<[UInt8]>([])
        try await context.download(overflow.file, allowsPrivateAddresses: allowsPrivateAddresses) {
            (piece) throws(AttachmentError) in bytes.withLock { $0.append(contentsOf: piece) }
        }
        return bytes.withLock { $0 }
    }
}
