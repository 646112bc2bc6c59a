import Foundation
import PushCore
import PushOutbox
import PushSender
import SealedPush
import TestSupport
import Testing

@Suite("A courier", .overForms) struct DeliveryTests {
    private let fixture: Fixture

    init() async throws { fixture = try await Fixture() }

    @Test("a courier delivers an enqueued push, and it opens on the device", .withAlerts) func delivers() async throws {
        let phone = DevicePrivateKey()
        try await fixture.addDevice("phone", identity: phone)
        let report = try await fixture.enqueue("Lunch at one?", to: .device("phone"))
        #expect(report.enqueuedCount == 1)
        let transport = ScriptedTransport()
        #expect(try await fixture.deliver(transport, until: .empty).acceptedCount == 1)
        let request = try #require(transport.delivered.all.first)
        #expect(try fixture.body(of: request, for: phone) == "Lunch at one?")
        #expect(request.address == Fixture.address("phone"))
        #expect(request.topic == Fixture.topic)
        let status = try await fixture.outbox.status()
        #expect(status.waitingCount == 0)
        #expect(status.outcomes == ["accepted": 1])
    }

    @Test("after lost answers and refusals, the same bytes and identifiers are sent again, after Apple's delay")
    func retries() async throws {
        try await fixture.addDevice("phone")
        try await fixture.enqueue(to: .device("phone"), expiration: fixture.now.advanced(bySeconds: 86_400))
        let outbox = try await fixture.standingStill()
        let transport = ScriptedTransport { _, count in
            switch count {
            case 1: .failure(.connectionLost("reset"))
            case 2: .failure(.timedOut)
            case 3: .failure(.unreachable("no route"))
            case 4: .apns(503, "ServiceUnavailable")
            case 5: .apns(500, nil)
            default: .accepted
            }
        }
        // 900 seconds times eight and sixteen for the fourth and fifth attempts.
        for (attempt, name, seconds) in [
            (1, "connection-lost", 1.0), (2, "timed-out", 2), (3, "unreachable", 4), (4, "ServiceUnavailable", 7_200),
            (5, "status 500", 14_400),
        ] {
            #expect(try await fixture.deliver(transport, from: outbox).deferred == [name: 1])
            #expect(transport.delivered.all.count == attempt)
            let due = try #require(try await outbox.status().nextDue)
            let delay = due.secondsSince1970 - fixture.now.secondsSince1970
            // A random tenth more or less, in whole seconds.
            #expect((0.9 * seconds - 1...1.1 * seconds + 1).contains(Double(delay)), "\(name): \(delay) s")
            fixture.time.advance(by: .seconds(delay + 1))
        }
        #expect(try await fixture.deliver(transport, from: outbox).acceptedCount == 1)
        #expect(transport.delivered.all.count == 6)
        #expect(Set(transport.delivered.all).count == 1)
    }

    @Test("a device gets its pushes in order, one at a time, and devices never wait for one another")
    func order() async throws {
        for name in ["a", "b"] { try await fixture.addDevice(name) }
        for number in 0..<10 {
            for name in ["a", "b"] { try await fixture.enqueue("\(number)", to: .device(DeviceName(parsing: name)!)) }
        }
        let stuck = Fixture.address("a")
        let transport = ScriptedTransport { request, _ in
            request.address == stuck ? .apns(429, "TooManyRequests") : .accepted
        }
        let report = try await fixture.deliver(transport)
        #expect(report.acceptedCount == 10)
        // Only the stuck device's first push was ever sent.
        #expect(Set(transport.delivered.all.filter { $0.address == stuck }).count == 1)
        #expect(try await fixture.outbox.status().waitingCount == 10)
    }

    @Test("a push that ends last is recorded as well: later leases have their own numbers") func manyAtOnce()
        async throws
    {
        for name in ["slow", "quick"] { try await fixture.addDevice(name) }
        try await fixture.enqueue(to: .device("slow"))
        for _ in 0..<5 { try await fixture.enqueue(to: .device("quick")) }
        let quickOnes = Collected<PushRequest>()
        let transport = ScriptedTransport { request, _ in
            if request.address == Fixture.address("quick") { quickOnes.add(request) }
            if request.address == Fixture.address("slow") {
                try? await eventually("the quick ones") { quickOnes.all.count == 5 }
            }
            return .accepted
        }
        #expect(try await fixture.deliver(transport, until: .empty).acceptedCount == 6)
        #expect(transport.delivered.all.count == 6)
    }

    @Test("after a 410, a device is dropped with its waiting pushes, unless the app has registered the token since")
    func gone() async throws {
        try await fixture.addPhone(waiting: 3)
        let registered = fixture.now
        let before = registered.advanced(bySeconds: -1)
        let transport = ScriptedTransport(refusing: 410, "Unregistered", timestamp: before, times: 2)
        let report = try await fixture.deliver(transport, until: .empty)
        #expect(report.acceptedCount == 3)
        #expect(
            try await fixture.outbox.device("phone")?.address
                == .active(Fixture.address("phone"), registered: registered))
        // In the same second, it may have been registered before or after.
        try await fixture.enqueue("again", to: .device("phone"))
        let sameSecond = ScriptedTransport(refusing: 410, "Unregistered", timestamp: registered, times: 1)
        #expect(try await fixture.deliver(sameSecond, until: .empty).acceptedCount == 1)

        for number in 0..<3 { try await fixture.enqueue("\(number)", to: .device("phone")) }
        let since = fixture.now.advanced(bySeconds: 1)
        fixture.time.advance(by: .seconds(2))
        try await fixture.deliver(ScriptedTransport(refusing: 410, "Unregistered", timestamp: since))
        #expect(try await fixture.outbox.device("phone")?.address == AddressState.none(.apns(), reason: "Unregistered"))
        #expect(try await fixture.outbox.status().waitingCount == 0)
        #expect(try await fixture.enqueue("more", to: .device("phone")).skipped == [.noToken: 1])
    }

    @Test("a 410 dated in the future doesn't remove a token that the app registered while the push was in transit")
    func goneInTheFuture() async throws {
        try await fixture.addPhone()
        let (time, outbox) = (fixture.time, fixture.outbox)
        let transport = ScriptedTransport { _, count in
            guard count == 1 else { return .accepted }
            time.advance(by: .seconds(5))
            let now = Timestamp(clamping: time.now / 1_000)
            try? await outbox.setAddress(Fixture.address("phone"), of: "phone", at: now)
            return .apns(410, "Unregistered", timestamp: now.advanced(bySeconds: 365 * 86_400))
        }
        #expect(try await fixture.deliver(transport, until: .empty).acceptedCount == 1)
        #expect(try await outbox.device("phone")?.address.address == Fixture.address("phone"))
        // Without such a registration, the token is gone.
        try await fixture.enqueue("again", to: .device("phone"))
        time.advance(by: .seconds(5))
        let future = fixture.now.advanced(bySeconds: 365 * 86_400)
        try await fixture.deliver(ScriptedTransport(refusing: 410, "Unregistered", timestamp: future))
        #expect(try await outbox.device("phone")?.address == AddressState.none(.apns(), reason: "Unregistered"))
    }

    @Test(
        "a new token stays if APNs refuses the old one or reports that it is gone",
        arguments: [(400, "BadDeviceToken"), (410, "Unregistered")])
    func newToken(status: Int, reason: String) async throws {
        try await fixture.addPhone()
        let fixture = fixture
        let new = Fixture.address("new")
        let transport = ScriptedTransport { request, _ in
            guard request.address != new else { return .accepted }
            try? await fixture.outbox.setAddress(new, of: "phone", at: fixture.now)
            return .apns(status, reason, timestamp: status == 410 ? fixture.now.advanced(bySeconds: 60) : nil)
        }
        #expect(try await fixture.deliver(transport, until: .empty).acceptedCount == 1)
        guard case .active(new, _) = try await fixture.outbox.device("phone")?.address else {
            Issue.record("the new token was removed or disabled")
            return
        }
    }

    @Test("deferred pushes are sent as soon as an operator requests it") func deferred() async throws {
        try await fixture.addPhone()
        try await fixture.deliver(ScriptedTransport(refusing: 503, "ServiceUnavailable"))
        #expect(try await fixture.deliver().acceptedCount == 0)
        #expect(try await fixture.outbox.retryNow() == 1)
        #expect(try await fixture.outbox.retryNow() == 0)
        #expect(try await fixture.deliver().acceptedCount == 1)
    }

    @Test("a refused token is disabled, and its waiting pushes stay sealed until an operator retries")
    func disabled() async throws {
        try await fixture.addPhone(waiting: 3)
        try await fixture.deliver(ScriptedTransport(refusing: 400, "BadDeviceToken"))
        var status = try await fixture.outbox.status()
        #expect(status.deadLetters == ["BadDeviceToken": 3])
        #expect(status.waitingCount == 0)
        #expect(status.reachableDeviceCount == 0)
        let letters = try await fixture.outbox.deadLetters()
        #expect(letters.map(\.device) == ["phone", "phone", "phone"])
        #expect(try await fixture.outbox.retry(reason: "Unregistered") == 0)
        #expect(try await fixture.outbox.retry(reason: "BadDeviceToken") == 3)
        let transport = ScriptedTransport()
        try await fixture.deliver(transport, until: .empty)
        #expect(transport.delivered.all.map(\.apnsID) == letters.map(\.apnsID))
        status = try await fixture.outbox.status()
        #expect(status.deadLetters.isEmpty)
    }

    @Test("an undeliverable push becomes a dead letter, and the next one is sent")
    func deadLetter() async throws {
        try await fixture.addPhone(waiting: 2)
        let first = Collected<String>()
        let transport = ScriptedTransport { request, _ in
            if first.all.isEmpty { first.add(request.apnsID) }
            return request.apnsID == first.all[0] ? .apns(413, "PayloadTooLarge") : .accepted
        }
        let report = try await fixture.deliver(transport, until: .empty)
        #expect(report.refused == ["PayloadTooLarge": 1])
        #expect(report.acceptedCount == 1)
        #expect(try await fixture.outbox.purge(.deadLetters(reason: "PayloadTooLarge")) == 1)
    }

    @Test("a courier reports how long accepted pushes had waited") func waits() async throws {
        try await fixture.addPhone()
        fixture.time.advance(by: .seconds(600))
        let waits = try await fixture.deliver(from: fixture.standingStill()).waits
        #expect(waits.count == 1 && waits.sum == .seconds(600))
        let bounds = zip(WaitingTimes.bounds, waits.counts).filter { $1 == 1 }.map(\.0)
        #expect(bounds == [900, 3_600, 21_600, 86_400].map { .seconds($0) })
    }

    @Test("expired pushes are dropped, and none is kept beyond 30 days") func expired() async throws {
        try await fixture.addDevice("phone")
        try await fixture.enqueue("soon", to: .device("phone"), expiration: fixture.now.advanced(bySeconds: 60))
        try await fixture.enqueue("late", to: .device("phone"))
        fixture.time.advance(by: .seconds(62))
        let transport = ScriptedTransport()
        try await fixture.deliver(transport)
        #expect(transport.delivered.all.count == 1)
        #expect(try await fixture.outbox.status().outcomes == ["expired": 1, "accepted": 1])

        try await fixture.enqueue("old", to: .device("phone"), expiration: fixture.now.advanced(bySeconds: 90 * 86_400))
        try await fixture.enqueue("short", to: .device("phone"), expiration: fixture.now.advanced(bySeconds: 9))
        // The refused one, which expired before a push was accepted, unless the courier has deleted it already.
        #expect(try await fixture.outbox.purge(.expired) <= 1)
        #expect(try await fixture.outbox.status().deadLetters.isEmpty)
        fixture.time.advance(by: .seconds(60))
        #expect(try await fixture.outbox.purge(.expired) == 1)
        fixture.time.advance(by: .seconds(30 * 86_400))
        #expect(try await fixture.outbox.purge(.expired) == 1)
        #expect(try await fixture.outbox.status().waitingCount == 0)
        #expect(try await fixture.outbox.status().nextDue == nil)
    }

    @Test("the immediate lane is preferred, and the other one doesn't starve", .withAlerts) func lanes() async throws {
        for number in 0..<64 { try await fixture.addDevice("i\(number)", user: "immediate") }
        for number in 0..<8 { try await fixture.addDevice("c\(number)", user: "considerate") }
        try await fixture.enqueue(to: .user("considerate"), priority: .considerate)
        try await fixture.enqueue(to: .user("immediate"))
        let transport = ScriptedTransport()
        try await fixture.deliver(transport, until: .empty, inFlight: 1)
        let priorities = transport.delivered.all.map(\.priority)
        #expect(priorities.count == 72)
        for start in stride(from: 0, to: 64, by: 8) {
            let considerate = priorities[start..<start + 8].filter { $0 == .considerate }.count
            #expect(considerate == 1, "of the eight from \(start) on")
        }
    }

    @Test("a canceled courier waits for pushes in transit and takes no more") func canceled() async throws {
        try await fixture.addDevices(0..<20)
        try await fixture.enqueue(to: .everyone)
        let started = AsyncStream<Void>.makeStream()
        let isCanceled = Locked(false)
        let transport = ScriptedTransport { _, _ in
            started.continuation.yield()
            try? await eventually("the courier is canceled") { isCanceled.withLock { $0 } }
            return Task.isCancelled ? .apns(0, "cut off") : .accepted
        }
        let outbox = try await fixture.reopened(nil)
        let courier = Courier(for: outbox, through: transport, limits: CourierLimits(inFlightCount: 4))
        let run = Task { try await courier.run() }
        for await _ in started.stream { break }
        run.cancel()
        isCanceled.withLock { $0 = true }
        let report = try await run.value
        #expect(report.acceptedCount == 4)
        let status = try await outbox.status()
        #expect(status.waitingCount == 16)
        #expect(status.queues.leased == 0)
    }

    @Test("several couriers at once deliver every push, and none twice") func several() async throws {
        try await fixture.addDevices(0..<100)
        for _ in 0..<5 { try await fixture.enqueue(to: .everyone) }
        let transport = ScriptedTransport()
        let fixture = fixture
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let outbox = try await fixture.reopened(nil)
                    try await Courier(for: outbox, through: transport, limits: CourierLimits(inFlightCount: 16))
                        .run(until: .empty)
                }
            }
            try await group.waitForAll()
        }
        #expect(transport.delivered.all.count == 500)
        #expect(Set(transport.delivered.all.map(\.apnsID)).count == 500)
    }

    @Test("every answer is recorded, in whatever order they arrive, so that no push is sent again")
    func answersOutOfOrder() async throws {
        try await fixture.addDevices(0..<60)
        for _ in 0..<5 { try await fixture.enqueue(to: .everyone) }
        let random = Locked(SeededGenerator())
        let transport = ScriptedTransport { _, _ in
            // At random: some are in transit while many others start and end.
            let count = random.withLock { Int.random(in: 0...400, using: &$0) }
            for _ in 0..<count { await Task.yield() }
            return .accepted
        }
        let report = try await fixture.deliver(transport, until: .empty, inFlight: 32)
        #expect(Set(transport.delivered.all.map(\.apnsID)).count == 300)
        #expect(report.attemptCount == 300 && report.acceptedCount == 300)
    }
}
