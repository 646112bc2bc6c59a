import Foundation

/// A file of `name: value` lines in the folder Vectors; each `sequence` line begins a new group.
struct VectorFile {
    /// The values before the first `sequence`.
    let common: [String: String]
    let sequences: [[String: String]]

    init(named name: String) throws {
        let folder = Bundle.module.resourceURL!.appending(path: "Vectors")
        let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        var groups: [[String: String]] = [[:]]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            if parts[0] == "sequence" { groups.append([:]) }
            groups[groups.count - 1][parts[0]] = parts[1]
        }
        common = groups[0]
        sequences = Array(groups.dropFirst())
    }

    func bytes(_ name: String) -> [UInt8] { PushCoreTests.bytes(hex: common[name]!) }
}
