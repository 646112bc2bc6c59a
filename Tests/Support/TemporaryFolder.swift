public import Foundation

/// A folder that is gone after the test.
public final class TemporaryFolder: Sendable {
    public let url: URL

    public init() throws {
        url = URL(filePath: NSTemporaryDirectory()).appending(path: "sealed-push-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    public var path: String { url.path(percentEncoded: false) }

    public func appending(_ name: String) -> URL { url.appending(path: name) }

    /// Writes a file and gives its path.
    @discardableResult
    public func write(_ text: String, to name: String) throws -> String {
        let file = appending(name)
        try Data(text.utf8).write(to: file)
        return file.path(percentEncoded: false)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
