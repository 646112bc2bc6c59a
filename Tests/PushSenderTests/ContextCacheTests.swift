import Foundation
import PushCore
import TestSupport
import Testing

@testable import PushSender
@testable import SealedPush

@Suite("Contexts") struct ContextCacheTests {
    private let sender = SenderPrivateKey()
    private let phone = DevicePrivateKey()
    private let plaintext = [UInt8](repeating: 7, count: 32)

    /// A clock that tests advance by hand.
    private final class World: Sendable {
        private let now = Locked(ContinuousClock.now)

        var clock: @Sendable () -> ContinuousClock.Instant { { [self] in now.withLock { $0 } } }

        func pass(_ time: Duration) { now.withLock { $0 += time } }
    }

    private func cache(_ limits: ContextLimits = ContextLimits(), _ world: World = World()) -> ContextCache {
        ContextCache(sender: sender, topic: "com.example.app", limits: limits, now: world.clock)
    }

    private func enc(_ cache: ContextCache, _ recipient: DevicePublicKey) -> [UInt8] {
        Array(cache.seal(plaintext, to: recipient).enc)
    }

    @Test("one context seals 1,024 messages, each with its own number") func messageLimit() throws {
        let cache = cache()
        let envelopes = (0..<2_050).map { _ in cache.seal(plaintext, to: phone.recipient) }
        #expect(Set(envelopes[..<1_024].map(\.enc)).count == 1)
        #expect(envelopes[1_024].enc != envelopes[0].enc)
        #expect(Set(envelopes.map(\.enc)).count == 3)
        #expect(Set(envelopes.compactMap(\.number)).count == 2_050)
    }

    @Test("a context is used for one hour at most") func lifetime() {
        let world = World()
        let cache = cache(ContextLimits(), world)
        let first = enc(cache, phone.recipient)
        world.pass(.seconds(3_599))
        #expect(enc(cache, phone.recipient) == first)
        world.pass(.seconds(1))
        #expect(enc(cache, phone.recipient) != first)
    }

    @Test("no more contexts are held than allowed, and the oldest is dropped first") func heldCount() {
        let cache = cache(ContextLimits(heldCount: 3))
        let recipients = (0..<5).map { _ in DevicePrivateKey().recipient }
        let first = recipients.map { enc(cache, $0) }
        #expect(cache.heldCount == 3)
        #expect(enc(cache, recipients[4]) == first[4])
        #expect(enc(cache, recipients[2]) == first[2])
        #expect(enc(cache, recipients[0]) != first[0])
    }

    @Test("nothing is held if a context seals only one message") func singleMessage() {
        for limits in [ContextLimits(messageCount: 1), ContextLimits(heldCount: 0)] {
            let cache = cache(limits)
            #expect(Set((0..<3).map { _ in enc(cache, phone.recipient) }).count == 3)
            #expect(cache.heldCount == 0)
        }
    }

    @Test("a forgotten recipient gets a new context") func forgotten() {
        let cache = cache()
        let first = enc(cache, phone.recipient)
        let other = enc(cache, DevicePrivateKey().recipient)
        cache.forget(phone.recipient)
        #expect(cache.heldCount == 1)
        #expect(![first, other].contains(enc(cache, phone.recipient)))
    }

    @Test("an exhausted context doesn't affect the age of the recipient's next context, or count toward the limit")
    func usedUp() {
        let others = (0..<4).map { _ in DevicePrivateKey().recipient }

        let world = World()
        let timed = cache(ContextLimits(messageCount: 2), world)
        _ = enc(timed, others[0])
        world.pass(.seconds(5))
        _ = (enc(timed, phone.recipient), enc(timed, phone.recipient))
        world.pass(.seconds(5))
        let second = enc(timed, phone.recipient)
        world.pass(.seconds(3_596))
        #expect(enc(timed, phone.recipient) == second)

        let crowded = cache(ContextLimits(messageCount: 2, heldCount: 3))
        _ = enc(crowded, others[0])
        _ = (enc(crowded, phone.recipient), enc(crowded, phone.recipient))
        _ = enc(crowded, others[1])
        let held = enc(crowded, phone.recipient)
        _ = (enc(crowded, others[2]), enc(crowded, others[3]))
        #expect(enc(crowded, phone.recipient) == held)
    }

    @Test("limits outside the specification's range stop the program") func limits() async {
        await #expect(processExitsWith: .failure) { _ = ContextLimits(messageCount: 1_025) }
        await #expect(processExitsWith: .failure) { _ = ContextLimits(messageCount: 0) }
        await #expect(processExitsWith: .failure) { _ = ContextLimits(lifetime: .seconds(3_601)) }
        await #expect(processExitsWith: .failure) { _ = ContextLimits(lifetime: .zero) }
        await #expect(processExitsWith: .success) { _ = ContextLimits(messageCount: 1_024, lifetime: .seconds(3_600)) }
    }

    @Test("expired contexts are swept even if nothing is sealed") func sweep() throws {
        let world = World()
        let cache = cache(ContextLimits(), world)
        for _ in 0..<10 { _ = cache.seal(plaintext, to: DevicePrivateKey().recipient) }
        world.pass(.seconds(1_800))
        _ = cache.seal(plaintext, to: phone.recipient)
        cache.sweep()
        #expect(cache.heldCount == 11)
        world.pass(.seconds(1_800))
        cache.sweep()
        #expect(cache.heldCount == 1)
        world.pass(.seconds(1_800))
        cache.sweep()
        #expect(cache.heldCount == 0)
    }

    @Test("the sweep runs by itself when it's due") func sweepByItself() async throws {
        let cache = ContextCache(
            sender: sender, topic: "com.example.app", limits: ContextLimits(lifetime: .milliseconds(50)))
        _ = cache.seal(plaintext, to: phone.recipient)
        try await eventually("the sweep") { cache.heldCount == 0 }
    }

    @Test("the sweep runs again for younger contexts, and for later ones") func sweepAgain() async throws {
        let world = World()
        let cache = cache(ContextLimits(lifetime: .milliseconds(50)), world)
        for _ in 1...2 {
            _ = cache.seal(plaintext, to: phone.recipient)
            world.pass(.milliseconds(25))
            _ = cache.seal(plaintext, to: DevicePrivateKey().recipient)
            world.pass(.milliseconds(30))
            try await eventually("the sweep of the older one") { cache.heldCount == 1 }
            world.pass(.milliseconds(30))
            try await eventually("the sweep of the other") { cache.heldCount == 0 }
        }
    }

    @Test("many threads never use the same number, and everything opens") func threads() throws {
        let cache = cache(ContextLimits(messageCount: 100, heldCount: 2))
        let phones = (0..<3).map { _ in DevicePrivateKey() }
        let envelopes = Locked<[Envelope]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for message in 0..<150 {
                let envelope = cache.seal(plaintext, to: phones[(thread + message) % 3].recipient)
                envelopes.withLock { $0.append(envelope) }
            }
        }
        let sealed = envelopes.withLock { $0 }
        #expect(sealed.count == 1_200)
        #expect(Set(sealed.compactMap(\.number)).count == sealed.count)
        let info = EnvelopeInfo(topic: "com.example.app")
        for envelope in sealed.prefix(60) {
            let phone = try #require(phones.first { envelope.matches($0.recipient) })
            var opened = [UInt8](repeating: 0, count: plaintext.count)
            let isOpen = opened.withUnsafeMutableBytes {
                envelope.open(with: phone, from: sender.sender, info: info, into: $0)
            }
            #expect(isOpen)
            #expect(opened == plaintext)
        }
    }
}
