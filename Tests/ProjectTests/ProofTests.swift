import Foundation
import TestPrograms
import TestSupport
import Testing

/// Docs/Proofs.md. Scripts/prove also runs the provers.
@Suite("The proofs", .blocking) struct ProofTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Runs a checker on a copy of the proofs, and returns its rows: name, claim, expected verdict, verdict, seconds.
    private func rows(
        _ part: String, _ arguments: [String] = [], change: (file: String, old: String, new: String)? = nil
    ) throws -> (status: Int32, rows: [[String]]) {
        let copy = folder.appending(UUID().uuidString)
        try FileManager.default.copyItem(at: Checkout.folder.appending(path: "Tests/Evidence/Proofs/\(part)"), to: copy)
        if let change {
            let file = copy.appending(path: change.file)
            let text = try Checkout.text(file)
            let place = try #require(text.range(of: change.old))
            try text.replacingCharacters(in: place, with: change.new).write(to: file, atomically: true, encoding: .utf8)
        }
        let result = try Program(at: "/usr/bin/python3").run(["-B", copy.appending(path: "check.py").path] + arguments)
        let rows = result.output.split(separator: "\n").map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
        #expect(result.status == 0 || result.status == 1, "\(result.errors)")
        return (result.status, rows.filter { $0.count == 5 })
    }

    @Test("each committed model satisfies its clauses, and each derivation follows from them") func symbolic() throws {
        let (status, rows) = try rows("symbolic")
        #expect(status == 0)
        #expect(rows.count >= 100 && rows.allSatisfy { $0[2] == $0[3] }, "\(rows.filter { $0[2] != $0[3] })")
        // The page's table is what the checker says.
        let page = try Checkout.text(Checkout.folder.appending(path: "Docs/Proofs.md"))
        let verdicts = Dictionary(rows.map { ($0[0], $0[3]) }) { first, _ in first }
        let leaks = ["nothing", "seed", "x25519", "ml-kem", "both", "seed+ml-kem", "quantum", "quantum+ml-kem"]
        let table = page.split(separator: "\n").drop { !$0.hasPrefix("| leaked |") }.dropFirst(2).prefix(leaks.count)
        for (leak, line) in zip(leaks, table) {
            let cells = line.split(separator: "|").dropFirst().map { $0.trimmingCharacters(in: .whitespaces) }
            let claims = ["01", "02", "03"].flatMap { ["secret-\($0)/\(leak)", "sender-\($0)/\(leak)"] }
            #expect(cells.filter { !$0.isEmpty } == claims.map { verdicts[$0] ?? "missing" }, "\(leak)")
        }
    }

    @Test("each proof that the threat model or the proofs' page names exists") func named() throws {
        let names = Set(try rows("symbolic").rows.map { String($0[0].prefix { $0 != "/" }) })
        let models = try Checkout.files(in: "Tests/Evidence/Proofs/states", ending: ".pml").map {
            $0.deletingPathExtension().lastPathComponent
        }
        let text = try Checkout.text(Checkout.folder.appending(path: "Docs/ThreatModel.md"))
        let table = text.split(separator: "\n## 2 ")[0].split(separator: "\n").filter { $0.hasSuffix("` |") }
        let named = table.flatMap {
            $0.split(separator: "|").last(where: { $0 != " " })!.matches(of: /`([^`]+)`/).map(\.output.1)
        }
        let page = try Checkout.text(Checkout.folder.appending(path: "Docs/Proofs.md"))
        let lines = page.components(separatedBy: "| claim that holds | attack twin |\n")[1].split(separator: "\n")
        let claimed = lines.prefix { $0.hasPrefix("|") }.flatMap {
            $0.split(separator: ":")[0].matches(of: /`([^`]+)`/).map(\.output.1)
        }
        #expect(named.count >= 15 && claimed.count >= 35)
        for name in named + claimed {
            #expect(
                models.contains(String(name)) || names.contains { $0 == name || $0.hasPrefix("\(name)-") }, "\(name)")
        }
    }

    @Test(
        "an altered model or derivation is refused, and a clause that it breaks is named",
        arguments: [
            ("models.json", "\"att\": [\"0\"]", "\"att\": []", "unknown: own-secret"),
            ("models.json", "\"kdf\": [0", "\"other name\": [0", "unknown: kdf"),
            ("models.json", "\"a\": [0", "\"a\": [2", "unknown"),
            ("derivations.txt", "seal-01 X=d T=app", "seal-01 X=d T=other", "unknown"),
        ])
    func alteredEvidence(file: String, old: String, new: String, verdict: String) throws {
        let (status, rows) = try rows("symbolic", change: (file, old, new))
        #expect(status == 1)
        #expect(rows.filter { $0[2] != $0[3] }.map { $0[3] } == [verdict])
    }

    @Test("SPIN visits every state of the leases, and finds each altered rule; without one, a claim fails")
    func states() throws {
        let (status, rows) = try rows("states", ["leases"])
        #expect(status == 0 && rows.allSatisfy { $0[2] == $0[3] }, "\(rows)")
        let fault = ("leases.pml", "!isLate[_pid] -> deliver(m)", "true -> deliver(m)")
        #expect(try self.rows("states", ["leases"], change: fault).status == 1)
        // No claim notices a smaller world, but it has fewer states.
        let narrowed = ("leases.pml", "kills < KILLS && isBusy", "kills < KILLS && failures == 0 && isBusy")
        #expect(try self.rows("states", ["leases"], change: narrowed).rows[0][3].hasSuffix(" states"))
    }
}
