import Foundation
import TestSupport
import Testing

/// `name: value` lines, as in Tests/Vectors; `#` begins a comment.
struct NamedLines: Sendable, CustomTestStringConvertible {
    let testDescription: String
    private let values: [String: String]

    struct Unusable: Error, CustomStringConvertible { let description: String }

    init(_ text: String, name: String = "lines") throws {
        testDescription = name
        var values: [String: String] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let colon = line.firstRange(of: ": ") ?? line.firstRange(of: ":") else {
                throw Unusable(description: "\(name): a line without a colon")
            }
            guard
                values.updateValue(String(line[colon.upperBound...]), forKey: String(line[..<colon.lowerBound])) == nil
            else { throw Unusable(description: "\(name): a duplicate name") }
        }
        self.values = values
    }

    init(_ file: URL) throws { try self.init(Checkout.text(file), name: file.lastPathComponent) }

    /// Returns the files of one folder, excluding subfolders.
    static func all(in folder: String) throws -> [NamedLines] {
        let path = folder == "Vectors" ? "Tests/Vectors" : "Tests/Vectors/\(folder)"
        return try Checkout.files(in: path, ending: ".txt")
            .filter { $0.deletingLastPathComponent().lastPathComponent == folder }.map { try NamedLines($0) }
    }

    subscript(_ name: String) -> String? { values[name] }

    /// Returns the value of a required name.
    func required(_ name: String) throws -> String {
        guard let value = values[name] else { throw Unusable(description: "\(testDescription) has no \(name)") }
        return value
    }

    /// Returns the values of name, name2, name3, and so on.
    func numbered(_ name: String) -> [String] {
        var found = values[name].map { [$0] } ?? []
        while let next = values["\(name)\(found.count + 1)"] { found.append(next) }
        return found
    }

    func number(_ name: String) throws -> Int64 {
        guard let number = Int64(try required(name)) else { throw Unusable(description: "\(name) is not a number") }
        return number
    }
}
