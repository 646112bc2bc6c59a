import PushSender
import SealedPush
import Testing

@testable import PushOutbox

/// Tests each answer in Apple's table and each failure of a transport, at the first attempt and at later ones.
@Suite("The meaning of an answer") struct JudgmentTests {
    private let delays = RetryDelays()

    private func judge(_ status: Int, _ reason: String?, timestamp: Timestamp? = nil, attempts: Int = 1) -> Judgment {
        Judgment(.apns(status, reason, timestamp: timestamp), attempts: attempts, delays: delays)
    }

    /// Checks the delay without the random tenth.
    private func expectLater(_ judgment: Judgment, _ seconds: Double, pause: Duration? = nil) {
        guard case .later(let delay) = judgment.settlement else {
            Issue.record("\(judgment)")
            return
        }
        #expect((0.899 * seconds...1.101 * seconds).contains(delay / .seconds(1)), "\(delay)")
        #expect(judgment.pause == pause && judgment.stop == nil)
    }

    @Test("a report counts pushes that the service deferred, and not those that this host canceled") func canceled() {
        var report = CourierReport()
        for error in [PushTransportError.canceled, .timedOut] {
            let judgment = Judgment(error, attempts: 1, delays: delays)
            report.add(judgment.settlement, name: error.name, waited: nil)
        }
        #expect(report.deferred == ["timed-out": 1])
    }

    @Test("a delay depends on its cause, and doubles up to its limit") func waits() {
        for (attempts, factor) in [(1, 1.0), (2, 2), (3, 4), (5, 16), (6, 16), (40, 16)] {
            for (status, reason) in [(500, "InternalServerError"), (503, "ServiceUnavailable"), (502, nil)] {
                expectLater(judge(status, reason, attempts: attempts), 900 * factor)
            }
            expectLater(judge(403, "TopicDisallowed", attempts: attempts), 900 * factor)
        }
        for (attempts, factor) in [(1, 1.0), (2, 2), (6, 32), (7, 60), (40, 60)] {
            expectLater(judge(429, "TooManyRequests", attempts: attempts), 60 * factor)
            expectLater(judge(429, nil, attempts: attempts), 60 * factor)
        }
        for reason in ["IdleTimeout", "Shutdown", "ExpiredProviderToken", "UnrelatedKeyIdInToken"] {
            expectLater(judge(reason == "Shutdown" ? 503 : 403, reason, attempts: 4), 8)
        }
        expectLater(judge(429, "TooManyProviderTokenUpdates"), 1_200, pause: .seconds(1_200))
    }

    @Test("without an answer, a push waits a second, and twice as long each time, up to five minutes")
    func withoutAnswer() {
        for error in [PushTransportError.timedOut, .connectionLost("reset"), .unreachable("no route")] {
            for (attempts, seconds) in [
                (1, 1.0), (2, 2), (3, 4), (4, 8), (5, 16), (6, 32), (7, 64), (8, 128), (9, 256), (10, 300), (11, 300),
                (40, 300),
            ] { expectLater(Judgment(error, attempts: attempts, delays: delays), seconds) }
        }
    }

    @Test("no delay is longer than a day, whatever a service asks for", arguments: [23, 24, 1 << 40])
    func longest(hours: Int64) {
        let outcome = PushOutcome.later(.exactly(.seconds(hours * 3_600)), PushReason("slow down"))
        let judgment = Judgment(outcome, attempts: 1, delays: delays)
        #expect(judgment.settlement == .later(.seconds(23 * 3_600)))
    }

    /// A push is accepted (`t`), gone (`g`), or refused for a possibly general reason, at a proven address (`R`) or not
    /// (`r`).
    @Test(
        "consecutive refusals that may concern all pushes end the run; once a push was accepted, only proven addresses count",
        arguments: [
            ("rrr", false, 3), ("RRR", false, 3), ("rrgr", false, 4), ("rrtrrr", false, nil), ("RRtRRR", false, 6),
            ("rrrrr", true, nil), ("RRR", true, 3), ("RrRrR", true, 5), ("RRtRRtRR", true, nil),
        ] as [(String, Bool, Int?)])
    func refusals(course: String, isEstablished: Bool, end: Int?) {
        var refusals = Refusals(endingAt: 3)
        refusals.isEstablished = isEstablished
        let ends = course.map { letter in
            let outcome: PushOutcome =
                switch letter {
                case "t": .accepted(uniqueID: nil)
                case "g": .apns(410, "Unregistered", timestamp: .now())
                default: .apns(400, "BadDeviceToken")
                }
            return refusals.add(.success(outcome), isProven: letter == "R")
        }
        #expect(ends.firstIndex { $0 != nil } == end.map { $0 - 1 })
    }

    @Test("pushes that failed together aren't retried together") func chance() {
        let delays = (1...40).map { _ in "\(judge(500, nil).settlement)" }
        #expect(Set(delays).count > 30)
    }

    @Test("a token is gone only after a 410 with its time, and refused only for a reason about the token") func tokens()
        throws
    {
        let since = Timestamp.now()
        guard case .addressGone("Unregistered", since, _) = judge(410, "Unregistered", timestamp: since).settlement
        else {
            Issue.record("the address is not gone")
            return
        }
        for timestamp in [nil, since] {
            for reason in ["BadDeviceToken", "DeviceTokenNotForTopic"] {
                #expect(judge(400, reason, timestamp: timestamp) == Judgment(.addressRefused(reason: reason)))
            }
        }
        expectLater(judge(410, "Unregistered"), 900)
        #expect(judge(410, "Unregistered", attempts: 3) == Judgment(.refused(reason: "Unregistered")))
    }

    @Test(
        "a mistake in a push affects only that push, one in the provider's keys stops the run, and an unknown one has three tries"
    )
    func others() {
        #expect(judge(413, "PayloadTooLarge") == Judgment(.refused(reason: "PayloadTooLarge")))
        #expect(
            judge(403, "InvalidProviderToken")
                == Judgment(
                    .returned,
                    stop: .senderRefused(
                        reason: "InvalidProviderToken",
                        problem:
                            "APNs refuses this provider (403 InvalidProviderToken): the key, its ID, and the team don't match, the key was revoked, or this machine's clock is ahead"
                    )))
        #expect(
            judge(401, nil)
                == Judgment(
                    .returned,
                    stop: .senderRefused(
                        reason: "status 401",
                        problem:
                            "APNs refuses this provider (401 without a reason); correct the key, the team, or the topic"
                    )))
        for attempts in 1...2 { expectLater(judge(418, "Teapot", attempts: attempts), Double(attempts) * 900) }
        #expect(judge(418, "Teapot", attempts: 3) == Judgment(.refused(reason: "Teapot")))
    }

    @Test("a transport that ends or reports a wrong clock stops the run; a busy one is retried soon")
    func failures() {
        func judge(_ error: PushTransportError) -> Judgment { Judgment(error, attempts: 9, delays: delays) }
        #expect(judge(.shuttingDown) == Judgment(.returned, stop: .transportShutDown))
        #expect(judge(.wrongClock) == Judgment(.returned, stop: .wrongClock))
        #expect(judge(.canceled) == Judgment(.later(.zero)))
        expectLater(judge(.overloaded), 1)
    }
}
