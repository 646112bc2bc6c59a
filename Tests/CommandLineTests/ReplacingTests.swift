import Foundation
import TestPrograms
import TestSupport
import Testing

@Suite("keys rotate, where no key is in use", .blocking) struct ReplacingTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        #expect(try run("generate", "sender", "newsroom").status == 0)
        #expect(try run("revoke", "newsroom", "--yes").status == 0)
    }

    private func run(_ arguments: String...) throws -> Program.Result {
        try Program("sealedpush", in: folder.url).run(["keys"] + arguments + ["--keyring", "K"])
    }

    private func states() throws -> [String] {
        let shown = try run("show", "newsroom", "--json").objects.first
        return (shown?["keys"] as? [[String: Any]] ?? []).compactMap { $0["state"] as? String }
    }

    @Test("one new key is made, which waits for nothing") func replacing() throws {
        let said = try run("rotate", "newsroom")
        #expect(said.status == 0 && said.output.contains("in use at once"))
        #expect(try states() == ["active", "revoked"])
        // The next one stands beside it, as always.
        #expect(try run("rotate", "newsroom").status == 0)
        #expect(try states() == ["active", "active", "revoked"])
        #expect(try run("rotate", "newsroom").status == 65)
    }

    @Test("a dry run makes none, and says that there would be one") func dryRun() throws {
        #expect(try run("rotate", "newsroom", "--dry-run").output.contains("would get a new key, in use at once"))
        let json = try run("rotate", "newsroom", "--dry-run", "--json").objects.first
        #expect(json?["done"] as? Bool == false)
        #expect((json?["steps"] as? [[String: Any]])?.count == 1)
        #expect(try states() == ["revoked"])
    }

    @Test("JSON names the key that is gone and the new one") func json() throws {
        let step = try #require(
            (try run("rotate", "newsroom", "--json").objects.first?["steps"] as? [[String: Any]])?.first)
        let keys = try #require(try run("show", "newsroom", "--json").objects.first?["keys"] as? [[String: Any]])
        #expect(keys.count == 2)
        #expect(step["newKeyID"] as? String == keys[0]["keyID"] as? String)
        #expect(step["keyID"] as? String == keys[1]["keyID"] as? String)
    }
}
