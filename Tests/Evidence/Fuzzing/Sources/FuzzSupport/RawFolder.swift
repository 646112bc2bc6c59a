import Foundation

/// A folder in memory (on `/dev/shm`) that is filled anew for each input and removed when the process ends.
public struct RawFolder: Sendable {
    public var path: String { url.path }
    public let url: URL

    /// - Parameter name: the target's name; folders that its earlier processes left behind are removed.
    public init(target name: String) {
        let root = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        let prefix = "\(name)."
        for other in Self.names(in: root) where other.hasPrefix(prefix) {
            guard let process = pid_t(other.dropFirst(prefix.count)), kill(process, 0) != 0 else { continue }
            try? FileManager.default.removeItem(at: root.appending(path: other))
        }
        url = root.appending(path: "\(prefix)\(getpid())", directoryHint: .isDirectory)
        Self.toRemove = url
        atexit { RawFolder.toRemove.map { try? FileManager.default.removeItem(at: $0) } }
    }

    /// Replaces the folder's files with these: a path below the folder, and the bytes.
    public func lay(_ files: [String: [UInt8]]) {
        try? FileManager.default.removeItem(at: url)
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            for (path, bytes) in files {
                let file = url.appending(path: path)
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                let isMade = FileManager.default.createFile(
                    atPath: file.path, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
                demand(isMade, "\(path) wasn't written")
            }
        } catch { fatalError("the folder couldn't be filled: \(error)") }
    }

    /// Returns the bytes of a file, or no bytes if there is no file.
    public func bytes(of name: String) -> [UInt8] {
        (try? Data(contentsOf: url.appending(path: name))).map(Array.init) ?? []
    }

    private static func names(in folder: URL) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    }

    // Set once, before the process ends.
    nonisolated(unsafe) private static var toRemove: URL?
}
