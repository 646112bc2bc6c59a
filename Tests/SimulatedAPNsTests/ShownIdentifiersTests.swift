import Testing

@testable import SimulatedAPNs

@Suite("What a simulated device has on its screen")
struct ShownIdentifiersTests {
    @Test("the newest 1,000 identifiers are remembered, and no more")
    func bound() {
        var screen = ShownIdentifiers()
        for number in 0..<5_000 {
            let isNew = screen.insert("\(number)")
            #expect(isNew)
            #expect(screen.count == min(number + 1, 1_000))
        }
        // The oldest of them is replaced and the newest then, so that 4001 makes way for the next.
        let known = ["4000", "5000", "4000", "4001"].map { !screen.insert($0) }
        #expect(known == [true, false, true, false])
        #expect(screen.count == 1_000)
    }
}
