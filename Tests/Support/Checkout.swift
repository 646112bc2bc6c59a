public import Foundation

/// The project's own files.
public enum Checkout {
    public static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Every file below a folder of the checkout whose name ends so, sorted; what was built is none of them, also where the
    /// checkout itself lies in what another built.
    public static func files(in path: String, ending suffix: String) throws -> [URL] {
        let root = folder.appending(path: path)
        guard let walker = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil) else { return [] }
        return walker.compactMap { $0 as? URL }
            .filter { file in
                let below = file.pathComponents.dropFirst(folder.pathComponents.count)
                return file.lastPathComponent.hasSuffix(suffix) && !below.contains(".build")
            }
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
