public import Foundation

/// The project's own files.
public enum Checkout {
    public static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Every file below a folder of the checkout whose name ends so, sorted.
    public static func files(in path: String, ending suffix: String) throws -> [URL] {
        let root = folder.appending(path: path)
        guard let walker = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil) else { return [] }
        return walker.compactMap { $0 as? URL }
            .filter { $0.lastPathComponent.hasSuffix(suffix) && !$0.pathComponents.contains(".build") }
            .sorted { $0.path < $1.path }
    }

    /// Every file below a folder, whatever its name.
    public static func allFiles(in folder: URL) throws -> [URL] {
        let keys: [URLResourceKey] = [.isRegularFileKey]
        guard let walker = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: keys) else {
            return []
        }
        return try walker.compactMap { $0 as? URL }.filter {
            try $0.resourceValues(forKeys: Set(keys)).isRegularFile == true
        }
    }

    public static func text(_ file: URL) throws -> String {
        String(decoding: try Data(contentsOf: file), as: UTF8.self)
    }
}
