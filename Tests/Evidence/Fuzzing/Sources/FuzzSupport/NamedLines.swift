import Foundation

/// The `name: value` lines of one of the project's text files: a test vector, or a published test key.
public struct NamedLines: Sendable {
    private let values: [String: String]

    /// - Parameter path: below `Tests`.
    public init(_ path: String) {
        guard let lines = NamedLines(Self.tests.appending(path: path)) else { fatalError("cannot read Tests/\(path)") }
        self = lines
    }

    /// Creates the lines of one name in the published keyring.
    public init(published name: String) {
        let file = Self.tests.appending(path: "Data/Keyring/keyring.txt")
        guard let text = try? String(contentsOf: file, encoding: .utf8),
            let keys = text.components(separatedBy: "\nname: ").first(where: { $0.hasPrefix("\(name)\n") })
        else { fatalError("cannot read the published key \(name)") }
        self.init(text: keys)
    }

    private init?(_ file: URL) {
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return nil }
        self.init(text: text)
    }

    private init(text: String) {
        var values: [String: String] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let colon = line.firstRange(of: ": ") else { continue }
            values[String(line[..<colon.lowerBound])] = String(line[colon.upperBound...])
        }
        self.values = values
    }

    /// Returns all files of a folder below `Tests`.
    public static func all(in path: String) -> [NamedLines] {
        let folder = tests.appending(path: path)
        let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return (files ?? []).compactMap { NamedLines($0) }
    }

    public subscript(name: String) -> String? { values[name] }

    /// Returns the value of a required line.
    public func required(_ name: String) -> String {
        guard let value = values[name] else { fatalError("no line \"\(name)\"") }
        return value
    }

    private static let tests = (0..<5).reduce(URL(filePath: #filePath)) { folder, _ in
        folder.deletingLastPathComponent()
    }
}
