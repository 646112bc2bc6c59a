internal import Foundation
internal import PushCore
internal import SealedPush

/// Fetches a message's pictures, sounds and movies, checks and decrypts them, and attaches them to the notification.
///
/// Six of them at once, and fewer where memory is short, those of all notifications of the process together; first each
/// one's first, which gives the thumbnail. About 0.4 MB of memory each, whatever their length. What is not ready in time, not
/// reachable, too large, altered or of another kind than was said is left out. A message that comes again more than a day
/// after it was sent is shown without them. Source: Specification 14.
public struct MediaStage: ServiceStage {
    private let allowsPrivateAddresses: Bool

    /// - Parameter allowsPrivateAddresses: true where the files lie on a private network that the phone is in. Still `https`.
    public init(allowsPrivateAddresses: Bool = false) { self.allowsPrivateAddresses = allowsPrivateAddresses }

    public func parts(of draft: NotificationDraft) -> [any ServiceStage] {
        draft.opened.content.attachments.enumerated().map { index, attachment in
            MediaPart(attachment: attachment, position: index, allowsPrivateAddresses: allowsPrivateAddresses)
        }
    }

    public func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
        draft
    }
}

/// One attachment.
private struct MediaPart: QueuedStage {
    let attachment: Content.Attachment
    let position: Int
    var place: Int { position }
    let allowsPrivateAddresses: Bool

    func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
        guard !draft.isLateRepeat(at: context.now()) else { return draft }
        let finished = try await fetch(in: context)
        var draft = draft
        draft.attachments.append(
            DraftAttachment(
                identifier: attachment.id, file: finished, type: attachment.type.typeIdentifier,
                thumbnail: attachment.thumbnail, remoteURL: attachment.file.url, position: position))
        return draft
    }

    private func fetch(in context: StageContext) async throws -> URL {
        let name = "attachment.\(attachment.type.filenameExtensions[0])"
        let finished = try context.scratchFile(named: name)
        let output = try MediaFile(context.scratchFile(named: "unfinished"), type: attachment.type)
        try await context.download(attachment.file, allowsPrivateAddresses: allowsPrivateAddresses) {
            (bytes) throws(AttachmentError) in try output.write(bytes)
        }
        try output.finish(as: finished)
        return finished
    }
}

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
