package import Foundation
internal import PushCore

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
