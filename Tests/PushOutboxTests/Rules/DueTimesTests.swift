import PushSender
import SealedPush
import Testing

@testable import PushOutbox

@Suite("Due times") struct DueTimesTests {
    private static let now: Int64 = 1_800_000_000_000

    @Test(
        "a queue is due once its time is past, or if its time is further ahead than any delay",
        arguments: [
            (.min, 0), (0, 0), (now - 1, 0), (now, 0), (now + 1, nil), (now + 86_400_000, nil), (now + 86_400_001, 1),
            (.max, 1),
        ] as [(Int64, Int?)])
    func due(time: Int64, range: Int?) {
        let searched = DueTimes.searched(at: Self.now)
        #expect(searched.count == 2)
        #expect(
            searched.indices.filter { (searched[$0].first...searched[$0].last).contains(time) }
                == (range.map { [$0] } ?? []))
    }

    @Test("no lease and no delay is longer than the longest delay") func longest() {
        let limit = Duration.milliseconds(DueTimes.longestDelay)
        // CourierLimits.init permits no longer lease.
        #expect(Duration.seconds(3_600) < limit)
        let delays = RetryDelays()
        for attempts in [1, 1_000_001] {
            #expect(delays.afterServerError(attempts: attempts) < limit)
            #expect(delays.afterTooMany(attempts: attempts) < limit)
            #expect(delays.afterConnectionFailure(attempts: attempts) < limit)
        }
        #expect(delays.everything < limit)
        #expect(delays.asAsked(.seconds(Int64.max)) < limit)
    }
}
