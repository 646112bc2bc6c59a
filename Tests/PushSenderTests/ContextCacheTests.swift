import Foundation
import PushCore
import SealedPush
import TestSupport
import Testing

@testable import PushSender

@Suite("Contexts") struct ContextCacheTests {
    private let sender = SenderPrivateKey()
    private let phone = DevicePrivateKey()
    private let plaintext = [UInt8](repeating: 7, count: 32)

    /// A clock that tests move by hand.
    private final class World: Sendable {
        private let now = Locked(ContinuousClock.now)

        var environment: ContextCache.Environment {
            ContextCache.Environment(now: { [self] in now.withLock { $0 } })
        }

        func pass(_ time: Duration) { now.withLock { $0 += time } }
    }

    private func cache(_ limits: ContextLimits = ContextLimits(), _ world: World = World()) -> ContextCache {
        ContextCache(sender: sender, topic: "com.example.app", limits: limits, environment: world.environment)
    }

    private struct Header {
        let enc: [UInt8]
        let sequenceNumber: UInt32
    }

    private func header(_ envelope: Envelope) throws -> Header {
        Header(enc: Array(envelope.enc), sequenceNumber: try #require(envelope.sequenceNumber))
    }

    @Test("one context serves numbers 0 to 1,023, then a new one begins at 0") func messageLimit() throws {
        let cache = cache()
        let headers = try (0..<2_050).map { _ in try header(cache.seal(plaintext, to: phone.recipient)) }
        #expect(headers[..<1_024].map(\.sequenceNumber) == Array(0..<1_024))
        #expect(Set(headers[..<1_024].map(\.enc)).count == 1)
        #expect(headers[1_024].sequenceNumber == 0)
        #expect(headers[1_024].enc != headers[0].enc)
        #expect(Set(headers.map(\.enc)).count == 3)
    }

    @Test("a context is used for one hour and no longer") func lifetime() throws {
        let world = World()
        let cache = cache(ContextLimits(), world)
        let first = try header(cache.seal(plaintext, to: phone.recipient)).enc
        world.pass(.seconds(3_599))
        #expect(try header(cache.seal(plaintext, to: phone.recipient)).enc == first)
        world.pass(.seconds(1))
        #expect(try header(cache.seal(plaintext, to: phone.recipient)).enc != first)
    }

    @Test("where a child could not be told from its parent, nothing is held") func noMark() throws {
        let cache = ContextCache(
            sender: sender, topic: "com.example.app", limits: ContextLimits(), environment: .init(mark: { nil }))
        let headers = try (0..<5).map { _ in try header(cache.seal(plaintext, to: phone.recipient)) }
        #expect(Set(headers.map(\.enc)).count == 5)
        #expect(cache.heldCount == 0)
    }

    @Test("no more contexts are held than allowed, and the oldest goes first") func heldCount() throws {
        let cache = cache(ContextLimits(heldCount: 3))
        let recipients = (0..<5).map { _ in DevicePrivateKey().recipient }
        let first = try recipients.map { try header(cache.seal(plaintext, to: $0)).enc }
        #expect(cache.heldCount == 3)
        #expect(try header(cache.seal(plaintext, to: recipients[4])).enc == first[4])
        #expect(try header(cache.seal(plaintext, to: recipients[2])).enc == first[2])
        #expect(try header(cache.seal(plaintext, to: recipients[0])).enc != first[0])
    }

    @Test("with one message a context nothing is held") func perMessage() throws {
        let cache = cache(.perMessage)
        let headers = try (0..<5).map { _ in try header(cache.seal(plaintext, to: phone.recipient)) }
        #expect(Set(headers.map(\.enc)).count == 5)
        #expect(headers.allSatisfy { $0.sequenceNumber == 0 })
        #expect(cache.heldCount == 0)
    }

    @Test("a limit of one message holds, however many contexts may be held") func singleMessage() throws {
        let cache = cache(ContextLimits(messageCount: 1))
        let headers = try (0..<3).map { _ in try header(cache.seal(plaintext, to: phone.recipient)) }
        #expect(Set(headers.map(\.enc)).count == 3)
        #expect(headers.allSatisfy { $0.sequenceNumber == 0 })
    }

    @Test("a forgotten recipient gets a new context") func forgotten() throws {
        let cache = cache()
        let first = try header(cache.seal(plaintext, to: phone.recipient)).enc
        let other = try header(cache.seal(plaintext, to: DevicePrivateKey().recipient)).enc
        cache.forget(phone.recipient)
        #expect(cache.heldCount == 1)
        let next = try header(cache.seal(plaintext, to: phone.recipient))
        #expect(![first, other].contains(next.enc) && next.sequenceNumber == 0)
    }

    @Test("a context that is used up takes the recipient's next one neither in time nor for room")
    func usedUp() throws {
        func enc(_ cache: ContextCache, _ recipient: DevicePublicKey) throws -> [UInt8] {
            try header(cache.seal(plaintext, to: recipient)).enc
        }
        let others = (0..<4).map { _ in DevicePrivateKey().recipient }

        let world = World()
        let timed = cache(ContextLimits(messageCount: 2), world)
        _ = try enc(timed, others[0])
        world.pass(.seconds(5))
        _ = try (enc(timed, phone.recipient), enc(timed, phone.recipient))
        world.pass(.seconds(5))
        let second = try enc(timed, phone.recipient)
        world.pass(.seconds(3_596))
        #expect(try enc(timed, phone.recipient) == second)

        let crowded = cache(ContextLimits(messageCount: 2, heldCount: 3))
        _ = try enc(crowded, others[0])
        _ = try (enc(crowded, phone.recipient), enc(crowded, phone.recipient))
        _ = try enc(crowded, others[1])
        let held = try enc(crowded, phone.recipient)
        _ = try (enc(crowded, others[2]), enc(crowded, others[3]))
        #expect(try enc(crowded, phone.recipient) == held)
    }

    @Test("limits beyond the specification's stop the program") func limits() async {
        await #expect(processExitsWith: .failure) { _ = ContextLimits(messageCount: 1_025) }
        await #expect(processExitsWith: .failure) { _ = ContextLimits(messageCount: 0) }
        await #expect(processExitsWith: .failure) { _ = ContextLimits(lifetime: .seconds(3_601)) }
        await #expect(processExitsWith: .failure) { _ = ContextLimits(lifetime: .zero) }
        await #expect(processExitsWith: .success) { _ = ContextLimits(messageCount: 1_024, lifetime: .seconds(3_600)) }
    }

    @Test("what is too old is swept away although nobody seals") func sweep() throws {
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

    @Test("the sweep comes by itself when time is up") func sweepByItself() async throws {
        let cache = ContextCache(
            sender: sender, topic: "com.example.app", limits: ContextLimits(lifetime: .milliseconds(50)))
        _ = cache.seal(plaintext, to: phone.recipient)
        try await eventually("the sweep") { cache.heldCount == 0 }
    }

    @Test("it comes again for what was younger then, and for what is sealed after it") func sweepAgain() async throws {
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

    @Test("many threads never use one number of one context twice, and everything opens") func threads() throws {
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
        let used = try sealed.map { envelope in
            let header = try header(envelope)
            return "\(header.enc) \(header.sequenceNumber)"
        }
        #expect(used.count == 1_200)
        #expect(Set(used).count == used.count)
        let info = HPKEInfo(Envelope.info(topic: "com.example.app"))
        for envelope in sealed.prefix(60) {
            let header = try header(envelope)
            let phone = try #require(phones.first { $0.recipient.keyID == envelope.recipientKeyID })
            let context = HPKEContext(
                receiving: header.enc.withUnsafeBytes { X25519PublicKey(checked: $0) }, with: phone.x25519,
                from: sender.sender.x25519, info: info)
            var opened = [UInt8](repeating: 0, count: plaintext.count)
            let isOpen = opened.withUnsafeMutableBytes { opened in
                envelope.sealedBytes.withUnsafeBytes { sealed in
                    envelope.headerBytes.withUnsafeBytes {
                        context.open(sealed, additionalData: $0, sequenceNumber: header.sequenceNumber, into: opened)
                    }
                }
            }
            #expect(isOpen)
            #expect(opened == plaintext)
        }
    }
}
