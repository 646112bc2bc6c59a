public import Foundation
internal import PushCore
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

    /// Better content. A stage without this changes nothing.
    ///
    /// What was changed is merged into the best so far, field by field, so that stages that run at once do not undo one
    /// another. The task is cancelled when time is up; what comes later is dropped.
    ///
    /// - Throws: anything; the log gets the ``StageError``'s code.
    func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft

    /// After the content was handed over, opened or not. The system is asked not to suspend the process meanwhile, and may
    /// do so all the same.
    func finished(_ result: StageResult, in context: StageContext) async
}

extension ServiceStage {
    public var pace: StagePace { .slow }
    public func parts(of draft: NotificationDraft) -> [any ServiceStage] { [self] }
    public func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
        draft
    }
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

/// What a stage has to work with, for one notification.
public struct StageContext: Sendable {
    /// What this stage has ready after this moment is not shown: the notification's own deadline, or an earlier one that
    /// the stage's ``StagePace`` sets.
    public private(set) var deadline: ContinuousClock.Instant
    /// The folder that app and extension share; nil where the system knows no such app group.
    public var container: URL? { environment.root(sharedContainer) }
    /// The service module's own folder in it. It may not exist yet.
    public var ownFolder: URL? { environment.folder(sharedContainer) }
    /// The device's clock.
    public var now: @Sendable () -> Timestamp { environment.now }
    package var fetcher: any Fetching { environment.fetcher }
    package var budget: WorkBudget { environment.budget }

    private let sharedContainer: SharedContainer
    let environment: DeviceEnvironment
    private let scratchFolder: ScratchFolder
    let start = ContinuousClock.now
    private let hasReceipt = Locked(false)

    package init(
        deadline: ContinuousClock.Instant, container: SharedContainer, environment: DeviceEnvironment,
        scratch: ScratchFolder
    ) {
        self.deadline = deadline
        sharedContainer = container
        self.environment = environment
        scratchFolder = scratch
    }

    /// True once: a notification has one receipt.
    func takesReceipt() -> Bool {
        hasReceipt.withLock { hasReceipt in
            defer { hasReceipt = true }
            return !hasReceipt
        }
    }

    func limited(to deadline: ContinuousClock.Instant) -> StageContext {
        var context = self
        context.deadline = min(self.deadline, deadline)
        return context
    }

    /// A new path in a folder of this notification's own, which is removed afterwards: for files that are not finished.
    ///
    /// What the draft's attachments point to is handed to the system, which moves it away.
    ///
    /// - Parameter name: the file's last part, such as `picture.png`. Anything but letters, digits, `.`, `-` and `_` is replaced.
    public func scratchFile(named name: String) throws -> URL { try scratchFolder.file(named: name) }

    /// How much time is left; never less than zero.
    public var timeLeft: Duration { max(.zero, deadline - ContinuousClock.now) }
}

/// Where the files of one notification are while they are made: a folder of its own, made when it is first needed.
///
/// After ``close(keeping:)`` it holds nothing but what was handed over, and nothing new can come into it. What a killed
/// process has left is removed when the next one looks.
package final class ScratchFolder: Sendable {
    private let root: URL
    private let folder: URL
    private let state = Locked(State())

    private struct State {
        var fileCount = 0
        /// The names of what was handed over; nil before that.
        var kept: Set<String>?
    }

    /// - Parameter root: the folder for all of them; the system's folder for temporary files in an extension.
    package init(in root: URL) {
        self.root = root.appending(path: Self.name, directoryHint: .isDirectory)
        folder = self.root.appending(path: UUID().uuidString, directoryHint: .isDirectory)
    }

    /// A path in the folder that no other call returns.
    package func file(named name: String) throws -> URL {
        let number = try state.withLock { state in
            guard state.kept == nil else { throw CancellationError() }
            if state.fileCount == 0 {
                // The folder for all of them is made to last, and has the class; what is made in it has it too, and need
                // not last: no wait for the drive.
                try FileProtection.fromFirstUnlock.ensureFolder(root)
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            }
            state.fileCount += 1
            return state.fileCount
        }
        return folder.appending(path: "\(number)-\(Self.safe(name))")
    }

    /// Removes everything but these files, and the folder once it is empty.
    package func close(keeping files: [URL]) {
        let kept = Set(files.map(\.lastPathComponent))
        let fileCount = state.withLock { state in
            state.kept = kept
            return state.fileCount
        }
        guard fileCount > 0 else { return }
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
        where !kept.contains(name) { try? FileManager.default.removeItem(at: folder.appending(path: name)) }
        removeIfEmpty()
    }

    /// Removes files that came too late to be handed over.
    package func remove(_ files: [URL]) {
        let kept = state.withLock { $0.kept ?? [] }
        let path = folder.path(percentEncoded: false)
        for file in files
        where !kept.contains(file.lastPathComponent) && file.path(percentEncoded: false).hasPrefix(path) {
            try? FileManager.default.removeItem(at: file)
        }
        removeIfEmpty()
    }

    private func removeIfEmpty() { rmdir(folder.path(percentEncoded: false)) }

    /// Removes what was left by processes that were killed, and folders whose files were moved away; not what may still be
    /// in use.
    func sweep() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root.path(percentEncoded: false))) ?? []
        for name in names {
            let folder = root.appending(path: name)
            guard let age = DurableFiles.secondsUntouched(folder) else { continue }
            if age > 600 {
                try? FileManager.default.removeItem(at: folder)
            } else if age > 60 {
                rmdir(folder.path(percentEncoded: false))
            }
        }
    }

    /// A name that is one part of a path, of at most 64 bytes, its extension kept.
    private static func safe(_ name: String) -> String {
        let kept = name.utf8.suffix(64).map { $0.isOfFileName ? $0 : UInt8(ascii: "_") }
        return String(decoding: kept, as: UTF8.self)
    }

    private static let name = "sealed-push"
}
