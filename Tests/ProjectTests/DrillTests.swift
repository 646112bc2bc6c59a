import Foundation
import TestPrograms
import TestSupport
import Testing

/// The steps after a break-in, as Docs/KeyManagement.md has them, from end to end.
@Suite("The drill of a stolen sender key", .blocking) struct DrillTests {
    private static func run(_ arguments: String..., in folder: TemporaryFolder) throws -> Program.Result {
        let programs = Program("sealedpush").executable.deletingLastPathComponent().path
        let drill = Checkout.folder.appending(path: "Scripts/special/drill").path
        return try Program(at: "/usr/bin/env", in: folder.url).run(
            ["TMPDIR=.", "SEALED_PUSH_KEY=of another keyring", "SEALED_PUSH_PROGRAMS=\(programs)", "bash", drill]
                + arguments)
    }

    @Test("each message that was meant is shown once, and of the thief's only what came before the new sender set")
    func figures() throws {
        let folder = try TemporaryFolder()
        let result = try Self.run("--json", "30", "3", in: folder)
        #expect(result.status == 0, "\(result.output)\n\(result.errors)")
        let figures = try #require(result.objects.first)
        #expect(result.objects.count == 1 && figures["good"] as? Bool == true)
        for (name, count) in ["phones": 3, "meant": 24, "missing": 0, "twice": 0, "unknownSender": 3] {
            #expect(figures[name] as? Int == count, "\(name): \(result.output)")
        }
        #expect(figures["forged"] as? [String: Int] == ["before": 3, "outbox": 0, "revoked": 0, "after": 0])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty, "what it made is gone")
    }
}
