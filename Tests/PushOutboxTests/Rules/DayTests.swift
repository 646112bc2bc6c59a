import Testing

@testable import PushOutbox

@Suite("Days") struct DayTests {
    // 1970-01-08, at noon.
    private static let now: Int64 = 7 * 86_400_000 + 43_200_000

    @Test("a day begins at midnight") func midnight() {
        #expect(Day(of: Self.now).number == 7 && Day(of: Self.now).start == 604_800_000)
        #expect(Day(of: 604_800_000).number == 7 && Day(of: 604_799_999).number == 6)
    }

    @Test("today is the last day of a period", arguments: [(1, 7), (7, 1), (8, 0)] as [(Int, Int64)])
    func period(count: Int, first: Int64) {
        let day = Day(firstOf: count, at: Self.now)
        #expect(day.number == first && day.start == first * 86_400_000)
    }
}
