public import Foundation
internal import PushCore
public import SealedPush

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

/// When a stage runs.
public enum StagePace: Sendable {
    /// Before all others, one after the other, each within half of the time. For fetching the content itself.
    case first
    /// Next, one after the other, each within two seconds. For work that doesn't wait for a network.
    case quick
    /// Last, all at once, for as long as there is time. For networking and heavy work.
    case slow
}

/// The result that was handed over.
public enum StageResult: Sendable {
    /// The content, with the stages' changes, and the time since the extension's call.
    case opened(NotificationDraft, elapsed: Duration)
    /// The safe default, because the push didn't open.
    case safeDefault(OpenError)
}

/// A stage's error, with a code for the log.
public protocol StageError: Error {
    /// The code: 1 to 32 characters from `a` to `z`, digits, and `-`, with nothing from the content.
    var code: String { get }
}

/// The resources that a stage has for one notification.
public struct StageContext: Sendable {
    /// The time after which this stage's work isn't shown: the notification's, or an earlier one set by its ``StagePace``.
    public private(set) var deadline: ContinuousClock.Instant
    /// The folder that the app and its extension share; nil if the system doesn't know the app group.
    public var container: URL? { environment.root(sharedContainer) }
    /// The service module's folder in the container, which may not exist yet.
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

    /// Returns true only once, because a notification has one receipt.
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

    /// Returns a new path for an unfinished file, in this notification's own folder, which is removed afterward. The system
    /// moves away the files of the draft's attachments.
    ///
    /// - Parameter name: The end of the filename, such as `picture.png`. All but letters, digits, `.`, and `-` become `_`.
    public func scratchFile(named name: String) throws -> URL { try scratchFolder.file(named: name) }

    /// The time that is left; never less than zero.
    public var timeLeft: Duration { max(.zero, deadline - ContinuousClock.now) }
}

/// The folder for one notification's unfinished files, created when it's first needed. After ``close(keeping:)``, it
/// contains only the files that were handed over, and no file can be added. A later process cleans up after a killed one.
package final class ScratchFolder: Sendable {
    private let root: URL
    private let folder: URL
    private let state = Locked(State())

    private struct State {
        var fileCount = 0
        /// The names of the files that were handed over; nil before that.
        var kept: Set<String>?
    }

    /// - Parameter root: The parent of all such folders; in an extension, the system's folder for temporary files.
    package init(in root: URL) {
        self.root = root.appending(path: Self.name, directoryHint: .isDirectory)
        folder = self.root.appending(path: UUID().uuidString, directoryHint: .isDirectory)
    }

    /// Returns a path in the folder that no other call returns.
    package func file(named name: String) throws -> URL {
        let number = try state.withLock { state in
            guard state.kept == nil else { throw CancellationError() }
            if state.fileCount == 0 {
                // The root is durable and has the class. Its contents inherit the class and needn't be durable.
                try FileProtection.fromFirstUnlock.ensureFolder(root)
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            }
            state.fileCount += 1
            return state.fileCount
        }
        return folder.appending(path: "\(number)-\(Self.safe(name))")
    }

    /// Removes all but these files, and the folder once it's empty.
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

    /// Removes killed processes' leftovers, and folders whose files were moved away, but nothing that may be in use.
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

    /// Returns a name that is a single path component of at most 64 bytes, with the same extension.
    private static func safe(_ name: String) -> String {
        let kept = name.utf8.suffix(64).map { $0.isOfFileName ? $0 : UInt8(ascii: "_") }
        return String(decoding: kept, as: UTF8.self)
    }

    private static let name = "sealed-push"
}
