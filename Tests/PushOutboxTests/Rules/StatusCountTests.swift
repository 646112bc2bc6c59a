import SealedPush
import Testing

@testable import PushOutbox

@Suite("The limits of a status") struct StatusCountTests {
    private static let now: Int64 = 1_800_000_000_999

    @Test("records that end within 30 days, outcomes of 30 days, and pushes by age") func limits() {
        let count = StatusCount(at: Self.now)
        #expect(count.second == 1_800_000_000)
        #expect(count.expiresSoon == 1_802_592_000)
        // 2027-01-15 less 30 days.
        #expect(count.lastUncountedDay == 20_833 - 30)
        #expect(count.ages.map { Self.now - $0.enqueued } == [60_000, 3_600_000, 86_400_000, 604_800_000])
    }

    @Test(
        "the next push is due at its time, or now if that is past",
        arguments: [
            (nil, nil), (.min, 1_800_000_000), (now - 5_000, 1_800_000_000), (now, 1_800_000_000),
            (now + 1, 1_800_000_001),
        ] as [(Int64?, Int64?)])
    func nextDue(due: Int64?, second: Int64?) {
        #expect(StatusCount(at: Self.now).nextDue(due)?.secondsSince1970 == second)
    }

    @Test(
        "no due time is impossible",
        arguments: [(.min, -100), (-1, -100), (0, -100), (100, 0), (350, 250)] as [(Int64, Int64)])
    func delay(due: Int64, milliseconds: Int64) {
        #expect(DueTimes.delay(until: due, at: 100) == .milliseconds(milliseconds))
    }
}
