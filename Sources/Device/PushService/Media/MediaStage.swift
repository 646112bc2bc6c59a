internal import Foundation
internal import PushCore
import SealedPush

/// Fetches a message's pictures, sounds, and movies, checks and decrypts them, and attaches them to the notification.
///
/// Fetches at most six at once for all notifications of the process, and fewer if memory is short. Each notification's
/// first file, which provides the thumbnail, comes first. Each takes about 0.4 MB of memory, regardless of its length. A
/// file is left out if it isn't ready in time, can't be reached, is too large, was altered, or isn't of the announced
/// type. A message that is repeated more than a day after it was sent is shown without files. Source: ContentParts 14.
public struct MediaStage: ServiceStage {
    private let reach: NetworkReach

    /// Creates a stage that fetches only from the open internet, unless the app allows more. Always uses `https`.
    public init(reaching reach: NetworkReach = .internet) { self.reach = reach }

    /// Returns a part for each attachment that the notification needs.
    public func parts(of draft: NotificationDraft) -> [any ServiceStage] {
        draft.opened.content.attachments.enumerated().filter { draft.needs($0.element) }.map { index, attachment in
            MediaPart(attachment: attachment, position: index, reach: reach)
        }
    }
}

/// Fetches one file when its turn comes. Lower positions come first, across all notifications.
struct MediaPart: ServiceStage {
    let attachment: Content.Attachment
    let position: Int
    let reach: NetworkReach

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
        try await context.download(attachment.file, reaching: reach) {
            (bytes) throws(AttachmentError) in try output.write(bytes)
        }
        try output.finish(as: finished)
        return finished
    }
}

extension ServiceStage {
    /// The position of the file that this part fetches, or nil if it isn't one of a ``MediaStage``'s parts.
    var filePosition: Int? { (self as? MediaPart)?.position }
}

/// A file being written: its type is checked from its first bytes, and it's moved into place only when it's complete.
final class MediaFile: Sendable {
    private let file: URL
    private let type: MediaType
    private let state: Locked<State>

    private struct State {
        var descriptor: Int32
        var start: [UInt8] = []
        var isChecked = false
    }

    init(_ file: URL, type: MediaType) throws(MediaError) {
        let descriptor = open(
            file.path(percentEncoded: false), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw .file(AttachmentError(code: errno, or: .notWritable))
        }
        self.file = file
        self.type = type
        state = Locked(State(descriptor: descriptor))
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(AttachmentError) {
        try state.withLock { (state) throws(AttachmentError) in
            if !state.isChecked {
                state.start.append(contentsOf: bytes.prefix(MediaType.signatureByteCount - state.start.count))
                if state.start.count == MediaType.signatureByteCount { try check(&state) }
            }
            do throws(DurableFiles.Failure) { try DurableFiles.writeAll(bytes, to: state.descriptor) } catch {
                throw AttachmentError(code: error.code, or: .notWritable)
            }
        }
    }

    func finish(as finished: URL) throws(MediaError) {
        do throws(AttachmentError) {
            try state.withLock { (state) throws(AttachmentError) in
                if !state.isChecked { try check(&state) }
                let isClosed = close(state.descriptor) == 0
                state.descriptor = -1
                guard isClosed else { throw .notWritable }
            }
            do throws(DurableFiles.Failure) { try DurableFiles.rename(file, to: finished) } catch {
                throw AttachmentError(code: error.code, or: .notWritable)
            }
        } catch { throw .file(error) }
    }

    private func check(_ state: inout State) throws(AttachmentError) {
        guard type.matches(state.start) else { throw .wrongType }
        state.isChecked = true
        state.start = []
    }

    deinit {
        // Does nothing if the file has been moved into place.
        unlink(file.path(percentEncoded: false))
        let descriptor = state.withLock { $0.descriptor }
        if descriptor >= 0 { close(descriptor) }
    }
}
