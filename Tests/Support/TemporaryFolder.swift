public import Foundation

/// A folder that is gone after the test.
public final class TemporaryFolder: Sendable {
    public let url: URL

    /// - Parameter inMemory: in memory, where the system has a place for that: for tests that write much and sync it.
    public init(inMemory: Bool = false) throws {
        let isThere = inMemory && FileManager.default.isWritableFile(atPath: "/dev/shm")
        let place = URL(filePath: isThere ? "/dev/shm" : NSTemporaryDirectory())
        url = place.appending(path: "sealed-push-\(UUID().uuidString)")
        // Its owner's alone, whatever the umask: what is kept safe from other users is kept in such a folder.
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    public var path: String { url.path(percentEncoded: false) }

    public func appending(_ name: String) -> URL { url.appending(path: name) }

    /// Writes a file, which nobody else may read, and gives its path.
    @discardableResult
    public func write(_ text: String, to name: String) throws -> String {
        let file = appending(name)
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        return file.path(percentEncoded: false)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
