import PushSender
import Testing

@testable import PushOutbox

@Suite("How long a push waits before it is sent again") struct RetryDelayTests {
    @Test(
        "without an answer: a second, and each time twice as long, up to five minutes",
        arguments: [PushTransportError.timedOut, .connectionLost("reset"), .unreachable("no route")])
    func withoutAnswer(error: PushTransportError) throws {
        for attempts in 1...40 {
            let judgment = Judgment(error, attempts: attempts, delays: RetryDelays())
            guard case .later(let delay) = judgment.settlement else {
                Issue.record("\(judgment)")
                continue
            }
            let seconds = attempts < 10 ? Double(1 << (attempts - 1)) : 300
            let expected = min(seconds, 300)
            #expect((0.899 * expected...1.101 * expected).contains(delay / .seconds(1)), "\(attempts): \(delay)")
            #expect(judgment.stop == nil)
        }
    }
}
