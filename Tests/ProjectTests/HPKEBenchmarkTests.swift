import Foundation
import TestPrograms
import TestSupport
import Testing

/// With two Python packages; `Scripts/special/bench-hpke` compares this project's HPKE with them, and needs a release build.
@Suite("The comparison of HPKE libraries", .blocking) struct HPKEBenchmarkTests {
    private func compare(_ peers: [(name: String, mode: String, arguments: String)]) throws -> Program.Result {
        let folder = Checkout.folder.appending(path: "Tests/Evidence/HPKE")
        let python = try PreparedPython.path()
        let peer = "'\(python)' -B '\(folder.appending(path: "peer.py").path)'"
        return try Program(at: python).run(
            ["-B", folder.appending(path: "compare.py").path, "2", "1"]
                + peers.map { "\($0.name)|1.0|\($0.mode)|\(peer) \($0.arguments)" })
    }

    @Test("It prints both times of each library and mode") func table() throws {
        let result = try compare([
            ("one", "auth", "pyhpke auth"), ("one", "base", "pyhpke base"), ("two", "base", "cryptography base"),
        ])
        #expect(result.status == 0, "\(result.errors)")
        for row in ["one 1.0 \\| auth", "one 1.0 \\| base", "two 1.0 \\| base"] {
            let time = #"\d+\.\d \(\d+\.\d–\d+\.\d\)"#
            let line = try Regex("(?m)^\\| \(row) \\| \(time) \\| \(time) \\|$")
            #expect(result.output.contains(line), "\(row): \(result.output)")
        }
    }

    @Test("A library that doesn't do what the others do is named, and nothing is timed") func disagreement() throws {
        let result = try compare([("one", "base", "pyhpke auth"), ("two", "base", "cryptography base")])
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(result.errors.contains("two (base) doesn't open what one (base) seals\n"), "\(result.errors)")
        #expect(result.errors.contains("one (base) doesn't open what two (base) seals\n"), "\(result.errors)")
    }

    @Test("A library that can't start is named") func missing() throws {
        let result = try compare([("one", "auth", "cryptography auth"), ("two", "base", "cryptography base")])
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(result.errors.contains("one (auth) can't start"), "\(result.errors)")
    }
}
