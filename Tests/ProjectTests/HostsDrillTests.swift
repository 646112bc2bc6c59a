import Foundation
import TestPrograms
import TestSupport
import Testing

/// Real programs, a real PostgreSQL with a standby: Tests/Clients/hosts-drill.py. `Scripts/special/soak-hosts` runs it with 100,000 messages.
@Suite("Several hosts at one outbox", .blocking) struct HostsDrillTests {
    @Test("couriers killed, connections cut, the server stopped, its standby promoted: each message is shown once")
    func drill() throws {
        let setUp = try Program(at: Checkout.folder.appending(path: "Scripts/setup-python").path).run()
        try #require(setUp.status == 0, "\(setUp.errors)")
        let drill = Checkout.folder.appending(path: "Tests/Clients/hosts-drill.py").path
        let programs = Program("sealedpush").executable.deletingLastPathComponent().path
        let size = Thoroughness.isThorough ? ["3000", "60", "10", "3"] : ["200", "8", "2", "1"]
        let result = try Program(at: setUp.trimmed).run(["-B", drill, programs] + size)
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        let figures = try #require(result.objects.first)
        for name in ["missing", "twice", "failed"] { #expect(figures[name] as? Int == 0, "\(name): \(result.output)") }
        #expect(figures["stored"] as? Int == Int(size[0]))
        let did = ["kill": Int(size[2]), "stop": Int(size[3]), "fail over": 1]
        #expect(figures["did"] as? [String: Int] == did.compactMapValues { $0 })
    }
}
