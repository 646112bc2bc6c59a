import PushSender
import SealedPush
import Testing

@testable import PushOutbox

/// Each answer of Apple's table, and each failure of a transport, at the first attempt and at later ones.
@Suite("What an answer means") struct JudgmentTests {
    /// Far apart, so that each delay says where it comes from.
    private let delays = RetryDelays(
        serverError: .seconds(1_000), device: .seconds(100), everything: .seconds(7_000), connection: .seconds(1))

    private func judge(_ status: Int, _ reason: String?, timestamp: Timestamp? = nil, attempts: Int = 1) -> Judgment {
        Judgment(.apns(status, reason, timestamp: timestamp), attempts: attempts, delays: delays, unknownAttempts: 3)
    }

    /// The delay without the tenth that chance adds.
    private func expectLater(_ judgment: Judgment, _ seconds: Double, pause: Duration? = nil) {
        guard case .later(let delay) = judgment.settlement else {
            Issue.record("\(judgment)")
            return
        }
        #expect((0.899 * seconds...1.101 * seconds).contains(delay / .seconds(1)), "\(delay)")
        #expect(judgment.pause == pause && judgment.stop == nil)
    }

    @Test("a wait is as long as what it is about asks for, and doubles to its limit") func waits() {
        for (attempts, factor) in [(1, 1.0), (2, 2), (3, 4), (5, 16), (6, 16), (40, 16)] {
            for (status, reason) in [(500, "InternalServerError"), (503, "ServiceUnavailable"), (502, nil)] {
                expectLater(judge(status, reason, attempts: attempts), 1_000 * factor)
            }
            expectLater(judge(403, "TopicDisallowed", attempts: attempts), 1_000 * factor)
        }
        for (attempts, factor) in [(1, 1.0), (2, 2), (6, 32), (7, 60), (40, 60)] {
            expectLater(judge(429, "TooManyRequests", attempts: attempts), 100 * factor)
            expectLater(judge(429, nil, attempts: attempts), 100 * factor)
        }
        for reason in ["IdleTimeout", "Shutdown", "ExpiredProviderToken", "UnrelatedKeyIdInToken"] {
            expectLater(judge(reason == "Shutdown" ? 503 : 403, reason, attempts: 4), 8)
        }
        expectLater(judge(429, "TooManyProviderTokenUpdates"), 7_000, pause: .seconds(7_000))
    }

    @Test("no wait is longer than a day, whatever the delays are set to") func longest() {
        for _ in 1...100 {
            let judgment = Judgment(.timedOut, attempts: 40, delays: RetryDelays(connection: .seconds(86_400)))
            #expect(judgment.settlement == .later(.seconds(23 * 3_600)))
        }
    }

    @Test("what failed together does not come back together") func chance() {
        let delays = (1...40).map { _ in "\(judge(500, nil).settlement)" }
        #expect(Set(delays).count > 30)
    }

    @Test("a token is gone only by 410 with its time; refused by what is said of it") func tokens() throws {
        let since = Timestamp.now()
        guard case .addressGone("Unregistered", since, _) = judge(410, "Unregistered", timestamp: since).settlement
        else {
            Issue.record("it is not gone")
            return
        }
        for timestamp in [nil, since] {
            for reason in ["BadDeviceToken", "DeviceTokenNotForTopic"] {
                #expect(
                    judge(400, reason, timestamp: timestamp) == Judgment(.addressRefused(reason: reason)))
            }
        }
        expectLater(judge(410, "Unregistered"), 1_000)
    }

    @Test(
        "a mistake in a push costs that push; one in the provider's keys stops the run; an unknown one is tried thrice")
    func others() {
        #expect(judge(413, "PayloadTooLarge") == Judgment(.dead(reason: "PayloadTooLarge")))
        #expect(
            judge(403, "InvalidProviderToken")
                == Judgment(
                    .returned,
                    stop: .senderRefused(
                        reason: "InvalidProviderToken",
                        problem:
                            "APNs refuses this provider (403 InvalidProviderToken): the key, its ID and the team don't belong together, the key was revoked, or this machine's clock is ahead"
                    )))
        #expect(
            judge(401, nil)
                == Judgment(
                    .returned,
                    stop: .senderRefused(
                        reason: "status 401",
                        problem:
                            "APNs refuses this provider (401 without a reason): correct the key, the team or the topic")
                ))
        for attempts in 1...2 { expectLater(judge(418, "Teapot", attempts: attempts), Double(attempts) * 1_000) }
        #expect(judge(418, "Teapot", attempts: 3) == Judgment(.dead(reason: "Teapot")))
    }

    @Test("a transport that ends, or says that the clock is wrong, stops the run; one that is busy is asked soon again")
    func failures() {
        func judge(_ error: PushTransportError) -> Judgment { Judgment(error, attempts: 9, delays: delays) }
        #expect(judge(.shuttingDown) == Judgment(.returned, stop: .transportShutDown))
        #expect(judge(.wrongClock) == Judgment(.returned, stop: .wrongClock))
        #expect(judge(.cancelled) == Judgment(.later(.zero)))
        expectLater(judge(.overloaded), 1)
        expectLater(judge(.timedOut), 256)
    }
}
