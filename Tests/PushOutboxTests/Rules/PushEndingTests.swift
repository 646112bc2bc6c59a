import Testing

@testable import PushOutbox

@Suite("How a push's end is counted") struct PushEndingTests {
    private static let day: Int64 = 86_400_000

    @Test("under its outcome, on its day") func end() {
        let ending = PushEnding(Tally.accepted, at: 3 * Self.day + 5)
        #expect(ending.outcome == "accepted" && ending.day == 3 && ending.step == 1)
    }

    @Test(
        "as refused when it is buried, or as expired, and the same is taken back on that day when it's requeued",
        arguments: [("BadDeviceToken", "refused:BadDeviceToken"), ("expired", "expired")])
    func burying(reason: String, outcome: String) {
        let time = 4 * Self.day - 1
        let (buried, back) = (PushEnding(burying: reason, at: time), PushEnding(requeueing: reason, buriedAt: time))
        #expect(buried.outcome == outcome && buried.day == 3 && buried.step == 1)
        #expect(back.outcome == outcome && back.day == 3 && back.step == -1)
    }
}
