import Foundation
import TestPrograms
import TestSupport
import Testing

@Suite("Docs/Dependencies.md", .blocking) struct DependencyTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["Scripts", "Docs"] {
            try FileManager.default.createDirectory(at: folder.appending(name), withIntermediateDirectories: true)
        }
        for name in ["Scripts/dependencies", "Docs/Dependencies.md", "Package.resolved"] {
            try FileManager.default.copyItem(at: Checkout.folder.appending(path: name), to: folder.appending(name))
        }
    }

    private func compare() throws -> Program.Result {
        // Let bash read it: a new file can't be run while a child forked in the meantime has it open (ETXTBSY).
        try Program(at: "/usr/bin/env").run("bash", folder.appending("Scripts/dependencies").path)
    }

    @Test("The page lists the packages that this checkout resolved, in the same versions") func same() throws {
        let result = try compare()
        #expect(result.status == 0 && result.output.isEmpty, "\(result.output)")
    }

    @Test(
        "A different version, a different package, or a missing package is reported",
        arguments: [
            ("\"version\" : \"7.10.0\"", "\"version\" : \"7.10.1\"", "grdb.swift: found 7.10.1, "),
            (
                "\"swift-metrics\"", "\"swift-matrix\"",
                "swift-matrix: found 2.13.0, but Docs/Dependencies.md lists none"
            ),
            ("\"identity\" : \"jwt-kit\"", "", "jwt-kit: found none, "),
        ])
    func other(text: String, replacement: String, says: String) throws {
        let file = folder.appending("Package.resolved")
        let resolved = try Checkout.text(file)
        try #require(resolved.contains(text))
        try resolved.replacing(text, with: replacement).write(to: file, atomically: true, encoding: .utf8)
        let result = try compare()
        #expect(result.status == 1 && result.output.contains(says), "\(result.output)")
    }

    @Test("A different version in a nested package is reported, but it need not use all packages")
    func others() throws {
        let fuzzing = folder.appending("Tests/Evidence/Fuzzing")
        try FileManager.default.createDirectory(at: fuzzing, withIntermediateDirectories: true)
        let pin = { (version: String) in
            try Data("\"identity\" : \"swift-nio\",\n\"version\" : \"\(version)\"\n".utf8).write(
                to: fuzzing.appending(path: "Package.resolved"))
        }
        let resolved = try Checkout.text(folder.appending("Package.resolved"))
        let here = try #require(
            resolved.firstMatch(of: /"identity" : "swift-nio",[^}]*"version" : "([0-9.]+)"/)?.1.description)
        try pin(here)
        #expect(try compare().status == 0)
        try pin(here + "0")
        let result = try compare()
        #expect(result.status == 1)
        #expect(result.output.contains("Tests/Evidence/Fuzzing/Package.resolved: swift-nio: found \(here)0, "))
    }

    @Test("The page names a license for each package") func licenses() throws {
        let rows = try Checkout.text(folder.appending("Docs/Dependencies.md")).split(separator: "\n").filter {
            $0.hasPrefix("|") && !$0.hasPrefix("|package") && !$0.hasPrefix("|---")
        }
        #expect(rows.count > 40)
        for row in rows {
            let cells = row.split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            #expect(cells.count == 6 && !cells[3].isEmpty && !cells[4].isEmpty, "\(row)")
        }
    }
}
