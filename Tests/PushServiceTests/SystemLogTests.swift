import PushCore
import Testing

@testable import PushService

#if !canImport(os)
@Suite("The steps of an opening") struct SystemLogTests {
    /// In a process of its own, because the observer sees all openings of the process.
    @Test("An observer sees that the keys and then the ledger are read within an opening") func steps() async {
        await #expect(processExitsWith: .success) {
            let fixture = try Fixture()
            let seen = Locked<[String]>([])
            SystemLog.observe { step in
                seen.withLock { $0.append("\(step)") }
                return { seen.withLock { $0.append("end of \(step)") } }
            }
            await fixture.show(try fixture.seal())
            let steps = seen.withLock { $0 }
            let keys = ["readingKeys", "end of readingKeys"]
            precondition(
                steps == ["opening"] + keys + ["recording", "end of recording", "end of opening"], "\(steps)")
        }
    }
}
#endif
