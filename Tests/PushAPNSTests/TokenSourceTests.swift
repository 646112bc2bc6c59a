import NIOCore
import SealedPush
import TestSupport
import Testing

@testable import PushAPNS

/// The rules of renewal, without a network.
@Suite("When a provider token is renewed")
struct TokenSourceTests {
    private let clock = ManualClock()
    private let asked = Collected<Timestamp>()
    private let source: TokenSource

    init() {
        let asked = asked
        source = TokenSource(clock: clock.transportClock) { asked.add($0) }
    }

    private func current() -> TokenSource.Current { source.current(now: clock.transportClock.now()) }

    private var ready: Int? { if case .ready(let token) = current() { token.generation } else { nil } }
    private var wait: TokenSource.Wait? { if case .waiting(let wait) = current() { wait } else { nil } }
    private var isStopped: Bool { if case .wrongClock = current() { true } else { false } }

    private func expired(generation: Int) -> TokenSource.Expiry {
        source.expired(generation: generation, now: clock.transportClock.now())
    }

    private func sign() {
        #expect(wait == .signing)
        #expect(source.signed("first") == .renewed)
        #expect(ready == 1)
    }

    @Test("at 50 minutes it is renewed and still used, at 58 it is not used any more")
    func ages() {
        sign()
        clock.advance(.seconds(50 * 60 - 1))
        #expect(ready == 1)
        #expect(asked.all.count == 1)
        clock.advance(.seconds(1))
        #expect(ready == 1)
        #expect(asked.all.count == 2)
        clock.advance(.seconds(8 * 60 - 1))
        #expect(ready == 1)
        clock.advance(.seconds(1))
        #expect(wait == .signing)
        #expect(source.signed("second") == .renewed)
        #expect(ready == 2)
        #expect(asked.all.count == 2)
    }

    @Test("where signing fails the old one is used until it is 58 minutes old, and signing is tried once a second")
    func failing() {
        sign()
        clock.advance(.seconds(50 * 60))
        #expect(ready == 1)
        #expect(source.signed(nil) == .failed)
        for _ in 0..<10 { #expect(ready == 1) }
        #expect(asked.all.count == 2)
        clock.advance(.seconds(8 * 60))
        #expect(wait == .signing)
        #expect(source.signed(nil) == .failed)
        #expect(wait == .failed)
        #expect(asked.all.count == 3)
        clock.advance(.seconds(1))
        #expect(wait == .signing)
    }

    @Test("after TooManyProviderTokenUpdates there is no new one for 20 minutes, whatever becomes of the old one")
    func frozen() {
        sign()
        clock.advance(.seconds(49 * 60))
        source.tooManyUpdates(now: clock.transportClock.now())
        clock.advance(.seconds(9 * 60))
        #expect(wait == .notYet)
        clock.advance(.seconds(11 * 60))
        #expect(wait == .signing)
        #expect(asked.all.count == 2)
    }

    @Test("after a sleep, in which only the time of day goes on, an old token is neither used nor called young")
    func suspended() {
        sign()
        clock.setWall(bySeconds: 2 * 3_600)
        #expect(wait == .signing)
        #expect(source.signed("second") == .early, "on new connections only")
        #expect(ready == 2)

        clock.setWall(bySeconds: 2 * 3_600 + 1_300)
        #expect(ready == 2)
        guard case .renewed = expired(generation: 2) else {
            Issue.record("called a wrong clock")
            return
        }
        #expect(wait == .signing)
    }

    @Test(
        "a stop ends when the clock is set, forward or back, and a new token is signed", arguments: [-7_200, 7_200, 61])
    func clockIsSet(seconds: Int) {
        sign()
        guard case .wrongClock(isNew: true) = expired(generation: 1) else {
            Issue.record("no wrong clock")
            return
        }
        #expect(isStopped)
        clock.advance(.seconds(120))
        clock.setWall(bySeconds: 30)
        #expect(isStopped, "that is within what clocks do")
        clock.setWall(bySeconds: Int64(seconds))
        #expect(wait == .signing)
        #expect(source.signed("second") == .early)
        #expect(ready == 2)
        #expect(asked.all.count == 2)
    }

    @Test("a clock that was set before the refusal came stops nothing")
    func setBeforeRefusal() {
        sign()
        clock.setWall(bySeconds: -7_200)
        guard case .renewed = expired(generation: 1) else {
            Issue.record("called a wrong clock")
            return
        }
        #expect(wait == .signing)
    }

    @Test("a stop is new once")
    func stop() {
        sign()
        var newCount = 0
        for _ in 0..<50 { if case .wrongClock(isNew: true) = expired(generation: 1) { newCount += 1 } }
        #expect(newCount == 1)
        clock.advance(.seconds(20 * 60 - 1))
        #expect(isStopped)
        clock.advance(.seconds(1))
        #expect(wait == .signing)
        #expect(source.signed("second") == .renewed)
    }
}
