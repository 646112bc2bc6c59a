import Foundation
import TestPrograms
import TestSupport
import Testing

/// A real PostgreSQL, a local APNs, simulated phones: Tests/Clients/fastapi-drill.py. Half a minute, and packages of its own.
@Suite("Examples/FastAPI", .blocking, .enabled(if: Thoroughness.isThorough)) struct FastAPIExampleTests {
    @Test("loses no message and shows none twice, with the service and the database killed while people write")
    func killed() throws {
        let setUp = try Program(at: Checkout.folder.appending(path: "Scripts/setup-python").path).run()
        try #require(setUp.status == 0, "\(setUp.errors)")
        let drill = Checkout.folder.appending(path: "Tests/Clients/fastapi-drill.py").path
        let programs = Program("sealedpush").executable.deletingLastPathComponent().path
        let result = try Program(at: setUp.trimmed).run(drill, programs, "100", "4")
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        let figures = try #require(result.objects.first)
        for name in ["missing", "twice", "failed"] { #expect(figures[name] as? Int == 0, "\(name): \(result.output)") }
        #expect(figures["stored"] as? Int == 100 && figures["wrong"] as? [String] == [], "\(result.output)")
        #expect(figures["kills"] as? [String: Int] == ["service": 3, "database": 3])
    }
}
