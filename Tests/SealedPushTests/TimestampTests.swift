import Testing

@testable import SealedPush

@Suite("A timestamp")
struct TimestampTests {
    private static let maximum: Int64 = 253_402_300_799

    @Test("lies between 1970 and the end of the year 9999", arguments: [0, 1, maximum])
    func inside(seconds: Int64) { #expect(Timestamp(secondsSince1970: seconds)?.secondsSince1970 == seconds) }

    @Test("outside is refused", arguments: [-1, maximum + 1, .min, .max])
    func outside(seconds: Int64) { #expect(Timestamp(secondsSince1970: seconds) == nil) }

    @Test("moved beyond its range stays at the end of it, also where the sum would overflow")
    func moving() throws {
        let start = try #require(Timestamp(secondsSince1970: 1_000))
        let moves: [(by: Int64, to: Int64)] = [
            (0, 1_000), (1, 1_001), (-1_000, 0), (-1_001, 0), (.min, 0), (.max, Self.maximum),
            (Self.maximum, Self.maximum),
        ]
        for move in moves { #expect(start.advanced(bySeconds: move.by).secondsSince1970 == move.to) }
    }

    @Test("tells how long after another it is, and which is first")
    func difference() throws {
        let first = try #require(Timestamp(secondsSince1970: 0))
        let last = try #require(Timestamp(secondsSince1970: Self.maximum))
        #expect(last.seconds(since: first) == Self.maximum)
        #expect(first.seconds(since: last) == -Self.maximum)
        #expect(first < last && !(last < first) && !(first < first))
    }

    @Test("of now lies in this century")
    func now() { #expect((1_700_000_000..<4_102_444_800).contains(Timestamp.now().secondsSince1970)) }
}
