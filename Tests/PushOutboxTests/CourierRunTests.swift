import TestPrograms
import TestSupport
import Testing

@testable import PushOutbox

@Suite("A courier's run", .blocking) struct CourierRunTests {
    @Test("a second run of the same courier traps") func twice() async {
        await #expect(processExitsWith: .failure) {
            let outbox = Outbox(MemoryStore(clock: .system))
            let courier = Courier(for: outbox, through: ScriptedTransport())
            for _ in 0..<2 { _ = try? await courier.run(until: .empty) }
        }
    }
}
