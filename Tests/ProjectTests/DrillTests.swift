import Foundation
import TestPrograms
import TestSupport
import Testing

/// Whole systems of real programs, which are killed or broken into.
@Suite("The drills", .blocking) struct DrillTests {
    /// Runs a drill of Tests/Tools/Clients and returns its final figures, which must report no message missing or shown twice.
    private static func figures(_ script: String, _ sizes: [String]) throws -> [String: Any] {
        let programs = Program("sealedpush").executable.deletingLastPathComponent().path
        let drill = Checkout.folder.appending(path: "Tests/Tools/Clients/\(script)").path
        let result = try Program(at: PreparedPython.path()).run(["-B", drill, programs] + sizes)
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        let figures = try #require(result.objects.first)
        for name in ["missing", "twice", "failed"] { #expect(figures[name] as? Int == 0, "\(name): \(result.output)") }
        return figures
    }

    /// Follows the steps after a break-in in Docs/KeyManagement.md, end to end.
    @Test("Each legitimate message is shown once, the thief's only before the new sender set")
    func stolenSender() throws {
        let folder = try TemporaryFolder()
        let programs = Program("sealedpush").executable.deletingLastPathComponent().path
        let drill = Checkout.folder.appending(path: "Scripts/special/drill").path
        let result = try Program(at: "/usr/bin/env", in: folder.url).run(
            ["TMPDIR=.", "SEALED_PUSH_KEY=of another keyring", "SEALED_PUSH_PROGRAMS=\(programs)", "bash", drill]
                + ["--json", "30", "3"])
        #expect(result.status == 0, "\(result.output)\n\(result.errors)")
        let figures = try #require(result.objects.first)
        #expect(result.objects.count == 1 && figures["good"] as? Bool == true)
        for (name, count) in ["phones": 3, "meant": 24, "missing": 0, "twice": 0, "unknownSender": 3] {
            #expect(figures[name] as? Int == count, "\(name): \(result.output)")
        }
        #expect(figures["forged"] as? [String: Int] == ["before": 3, "outbox": 0, "revoked": 0, "after": 0])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty, "its files are removed")
    }

    /// With a real PostgreSQL and a standby. `Scripts/special/soak-hosts` runs it with 100,000 messages.
    @Test("Despite killed couriers, cut connections, server stops, and a failover, each message is shown once")
    func hosts() throws {
        let size = Thoroughness.isThorough ? ["3000", "60", "10", "3"] : ["200", "8", "2", "1"]
        let figures = try Self.figures("hosts-drill.py", size)
        #expect(figures["stored"] as? Int == Int(size[0]))
        let did = ["kill": Int(size[2]), "stop": Int(size[3]), "fail over": 1]
        #expect(figures["did"] as? [String: Int] == did.compactMapValues { $0 })
    }

    @Test(
        "The examples in Python keep every token that Apple doesn't report as gone, survive bad servers, and print no secret",
        arguments: ["fastapi-answers", "example-errors"])
    func examples(script name: String) throws {
        let script = Checkout.folder.appending(path: "Tests/Tools/Clients/\(name).py").path
        let result = try Program(at: PreparedPython.path()).run("-B", script)
        #expect(result.status == 0 && result.output == "{\"wrong\": []}\n", "\(result.output)\(result.errors)")
    }

    /// Takes half a minute, and needs extra packages.
    @Test(
        "Examples/FastAPI loses no message and shows none twice if the service and the database are killed while users write",
        .enabled(if: Thoroughness.isThorough))
    func fastAPI() throws {
        let figures = try Self.figures("fastapi-drill.py", ["100", "4"])
        #expect(figures["stored"] as? Int == 100 && figures["wrong"] as? [String] == [])
        #expect(figures["kills"] as? [String: Int] == ["service": 3, "database": 3])
    }
}
