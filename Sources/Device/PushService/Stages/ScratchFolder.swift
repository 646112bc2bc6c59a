package import Foundation
internal import PushCore

/// Where the files of one notification are while they are made: a folder of its own, made when it is first needed.
///
/// After ``close(keeping:)`` it holds nothing but what was handed over, and nothing new can come into it. What a killed
/// process has left is removed when the next one looks.
package final class ScratchFolder: Sendable {
    private let root: URL
    private let folder: URL
    private let state = Locked(State.unused)
    private let counter = Locked(0)

    private enum State {
        case unused
        case made
        case closed(kept: Set<String>)
    }

    /// - Parameter root: the folder for all of them; the system's folder for temporary files in an extension.
    package init(in root: URL) {
        self.root = root.appending(path: Self.name, directoryHint: .isDirectory)
        folder = self.root.appending(path: UUID().uuidString, directoryHint: .isDirectory)
    }

    /// A path in the folder that no other call returns.
    package func file(named name: String) throws -> URL {
        try state.withLock { state in
            switch state {
            case .closed: throw CancellationError()
            case .made: return
            case .unused:
                // The folder for all of them is made to last, and has the class; what is made in it has it too, and need
                // not last: no wait for the drive.
                try FileProtection.fromFirstUnlock.ensureFolder(root)
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                state = .made
            }
        }
        let number = counter.withLock { number in
            number += 1
            return number
        }
        return folder.appending(path: "\(number)-\(Self.safe(name))")
    }

    /// Removes everything but these files, and the folder once it is empty.
    package func close(keeping files: [URL]) {
        let kept = Set(files.map(\.lastPathComponent))
        let wasMade = state.withLock { state in
            defer { state = .closed(kept: kept) }
            if case .made = state { return true }
            return false
        }
        guard wasMade else { return }
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
        where !kept.contains(name) {
            try? FileManager.default.removeItem(at: folder.appending(path: name))
        }
        removeIfEmpty()
    }

    /// Removes files that came too late to be handed over.
    package func remove(_ files: [URL]) {
        let kept = state.withLock { state in
            if case .closed(let kept) = state { return kept }
            return []
        }
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
    package static func sweep(_ root: URL) {
        let root = root.appending(path: name, directoryHint: .isDirectory)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root.path(percentEncoded: false))) ?? []
        for name in names {
            let folder = root.appending(path: name)
            let path = folder.path(percentEncoded: false)
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            guard let changed = attributes?[.modificationDate] as? Date else { continue }
            let age = Duration.seconds(Date().timeIntervalSince(changed))
            if age > .seconds(600) {
                try? FileManager.default.removeItem(at: folder)
            } else if age > .seconds(60) {
                rmdir(path)
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
