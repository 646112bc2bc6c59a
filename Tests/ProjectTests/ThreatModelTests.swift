import Foundation
import TestSupport
import Testing

/// What a reviewer looks up: each row names the tests that show it, and each of those is there.
@Suite("Docs/ThreatModel.md") struct ThreatModelTests {
    private let page: String
    private let tests: [Substring: Set<Substring>]

    /// A row of the table of tests: a number, or none where it goes on with the one before; what is tested; where.
    private static var line: Regex<(Substring, Substring, Substring)> {
        #/\| (T[0-9]+|) ?\| [^|]+ \| ([A-Za-z]+Tests[^|]*) \|/#
    }

    init() throws {
        page = try Checkout.text(Checkout.folder.appending(path: "Docs/ThreatModel.md"))
        var tests: [Substring: Set<Substring>] = [:]
        var number: Substring = ""
        for row in page.split(separator: "\n") {
            guard let match = row.wholeMatch(of: Self.line) else { continue }
            if !match.1.isEmpty { number = match.1 }
            tests[number, default: []].formUnion(match.2.matches(of: #/[A-Z][A-Za-z0-9]+Tests/#).map(\.0))
        }
        self.tests = tests
    }

    /// Rows of the tables whose last column is the test's.
    private var attacks: [[Substring]] {
        var isInside = false
        return page.split(separator: "\n", omittingEmptySubsequences: false).compactMap { row in
            if row.hasSuffix("| test |") { isInside = true } else if !row.hasPrefix("|") { isInside = false }
            let cells = row.split(separator: "|")
            return isInside && !row.hasSuffix("| test |") && !row.hasPrefix("|---") ? cells : nil
        }
    }

    @Test("numbers its tests without a gap, and uses each") func numbers() {
        #expect(tests.keys.sorted { $0.count == $1.count ? $0 < $1 : $0.count < $1.count } == (1...26).map { "T\($0)" })
        let used = Set(page.matches(of: #/\bT[0-9]+\b/#).map(\.0))
        #expect(used == Set(tests.keys))
        for number in tests.keys {
            #expect(page.matches(of: #/\bT[0-9]+\b/#).count { $0.0 == number } > 1, "\(number) shows nothing")
        }
    }

    @Test("names a test in every row of an attack, or says by a dash that there can be none") func rows() {
        #expect(attacks.count > 100)
        for row in attacks {
            let cell = row.last.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
            #expect(
                cell.wholeMatch(of: #/-|T[0-9]+( to T[0-9]+)?( \([A-Za-z, ]+\))?(, T[0-9]+( \([A-Za-z, ]+\))?)*/#)
                    != nil, "\(row)")
            // In brackets stands one of the suites that the number stands for.
            for match in cell.matches(of: #/(T[0-9]+) \(([A-Za-z, ]+)\)/#) {
                let suites = match.2.split(separator: ", ")
                #expect(tests[match.1]?.isSuperset(of: suites) == true, "\(cell)")
            }
        }
        #expect(attacks.count { $0.last == " - " } < attacks.count / 4)
    }

    @Test("names targets and suites that are there") func suites() throws {
        let folder = Checkout.folder.appending(path: "Tests")
        let names = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
        for row in page.split(separator: "\n") {
            guard let match = row.wholeMatch(of: Self.line) else { continue }
            for place in match.2.matches(of: #/([A-Z][A-Za-z]+Tests)(?: \(([^)]+)\))?/#) {
                let sources = try names.filter { $0.hasPrefix("\(place.1)/") && $0.hasSuffix(".swift") }
                    .map { try Checkout.text(folder.appending(path: $0)) }
                #expect(!sources.isEmpty, "\(place.1)")
                for word in (place.2 ?? "").split(separator: ", ") where word.first?.isUppercase == true {
                    let suite = word.prefix { $0 != "." }
                    #expect(
                        sources.contains { $0.contains("struct \(suite)") || $0.contains("class \(suite)") }, "\(suite)"
                    )
                }
            }
        }
    }
}
