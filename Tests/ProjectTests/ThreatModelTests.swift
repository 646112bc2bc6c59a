import Foundation
import TestSupport
import Testing

/// The page's two tables: attacks, each with the numbers of its tests, and an appendix that names the suites of each number.
@Suite("Docs/ThreatModel.md") struct ThreatModelTests {
    /// The cells of each row of the table of attacks.
    private let attacks: [[String]]
    /// The cells of each row of the appendix: a number, the tests, and their suites.
    private let tests: [[String]]
    /// Whether the table of attacks is the page's first table.
    private let isFirst: Bool

    init() throws {
        let page = try Checkout.text(Checkout.folder.appending(path: "Docs/ThreatModel.md"))
        attacks = Self.rows(below: "| attacker | has | can | defense | tests, proofs |", of: page)
        tests = Self.rows(below: "|number|tests|suites|", of: page)
        isFirst = page.split(separator: "\n").first { $0.hasPrefix("|") }?.hasPrefix("| attacker |") == true
    }

    private static func rows(below head: String, of page: String) -> [[String]] {
        page.split(separator: "\n", omittingEmptySubsequences: false).drop { $0 != head }.dropFirst(2)
            .prefix { $0.hasPrefix("|") }
            .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
    }

    /// Returns the tests in a cell, without the proofs, which ``ProofTests`` checks.
    private static func numbers(in cell: String) -> [String] {
        cell.components(separatedBy: ", ").filter { !$0.hasPrefix("`") }
    }

    @Test("The table of attacks comes first, and none of its rows has an empty cell") func attackTable() {
        #expect(isFirst)
        #expect(attacks.count > 30)
        for row in attacks { #expect(row.count == 5 && row.allSatisfy { !$0.isEmpty }, "\(row)") }
        #expect(Set(attacks.map { $0[0] }).count == attacks.count)
    }

    @Test("Every attack names its tests in ascending order, or has a dash if no test can show it") func rows() {
        let known = tests.map { $0[0] }
        for row in attacks where row.last != "-" {
            let indices = Self.numbers(in: row.last ?? "").map { known.firstIndex(of: $0) ?? -1 }
            #expect(!indices.contains(-1), "\(row)")
            #expect(indices == Set(indices).sorted(), "\(row)")
        }
        #expect(attacks.count { $0.last == "-" } <= attacks.count / 10)
    }

    @Test("The appendix numbers its tests in order, and an attack uses each number") func numbers() {
        #expect(tests.count > 20 && tests.map { $0[0] } == (1...tests.count).map { "T\($0)" })
        let used = Set(attacks.flatMap { Self.numbers(in: $0.last ?? "") })
        for row in tests { #expect(used.contains(row[0]), "no attack uses \(row[0])") }
    }

    @Test("Every suite that the appendix names exists") func suites() throws {
        let targets = Checkout.folder.appending(path: "Tests")
        let sources = try Checkout.files(in: "Tests", ending: ".swift").map { try Checkout.text($0) }
        let declared = Set(
            sources.flatMap { $0.matches(of: #/\b(?:struct|class) ([A-Z][A-Za-z0-9]*Tests)\b/#).map { String($0.1) } })
        #expect(declared.count > 100)
        for row in tests {
            #expect(row.count == 3, "\(row)")
            for name in Self.numbers(in: row.last ?? "") {
                let isTarget = FileManager.default.fileExists(atPath: targets.appending(path: name).path)
                #expect(name.hasSuffix("Tests") && (isTarget || declared.contains(name)), "\(row[0]): \(name)")
            }
        }
    }
}
