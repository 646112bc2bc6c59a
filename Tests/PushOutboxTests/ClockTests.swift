import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushOutbox

/// Tests a wall clock that is set, by minutes or years, while pushes wait.
@Suite("A wall clock that is set", .overStores) struct ClockTests {
    private let fixture: Fixture

    init() async throws { fixture = try await Fixture() }

    private static let steps: [Duration] = [
        60, -60, 3_600, -3_600, 86_400, -86_400, 90_000, -90_000, 20 * 86_400, -50 * 365 * 86_400,
    ].map { .seconds($0) }

    // With PostgreSQL, the times are those of the database's machine, whose uptime isn't known.
    @Test("a deferred push waits as long as before, in every process", .inFile, arguments: steps) func deferred(
        step: Duration
    ) async throws {
        try await fixture.addPhone()
        try await fixture.deliver(ScriptedTransport(refusing: 503, "ServiceUnavailable"))
        let other = try await fixture.reopened()
        for isSet in [true, false] {
            fixture.time.advance(by: .seconds(300))
            if isSet { fixture.time.set(by: step) }
            #expect(try await other.take(1).isEmpty)
            #expect(try await fixture.deliver().attemptCount == 0)
        }
        // Fifteen minutes, and a tenth.
        fixture.time.advance(by: .seconds(391))
        #expect(try await fixture.deliver().acceptedCount == 1)
    }

    @Test("a lease ends when it would have ended", .inFile, arguments: steps) func leased(step: Duration) async throws {
        try await fixture.addPhone()
        #expect(try await fixture.outbox.take(1).count == 1)
        fixture.time.advance(by: .milliseconds(30_000))
        fixture.time.set(by: step)
        #expect(try await fixture.outbox.take(2).isEmpty)
        fixture.time.advance(by: .milliseconds(29_999))
        #expect(try await fixture.outbox.take(3).isEmpty)
        fixture.time.advance(by: .milliseconds(1))
        #expect(try await fixture.outbox.take(4).count == 1)
    }

    @Test("a push that is enqueued just after the clock was set is due at once", arguments: steps) func enqueued(
        step: Duration
    ) async throws {
        try await fixture.addPhone()
        let other = try await fixture.addDevice("other")
        // The first change after it moves the due times of the pushes that wait, but not that of its own.
        fixture.time.set(by: step)
        try await fixture.enqueue(to: .device(other.name))
        #expect(try await fixture.outbox.take(1, count: 2).contains { $0.entryRow.device == "other" })
    }

    @Test(
        "a push whose answer is outstanding stays with its courier", .inFile,
        arguments: [Duration.seconds(3_600), .seconds(-3_600)])
    func outstanding(step: Duration) async throws {
        try await fixture.addPhone()
        let (time, other) = (fixture.time, fixture.outbox)
        let transport = ScriptedTransport { _, _ in
            time.set(by: step)
            let start = time.uptime
            while time.uptime < start + 1_200_000 {
                if (try? await other.take(7))?.isEmpty == false { return .apns(418, "another has it") }
                await Task.yield()
            }
            return .accepted
        }
        let report = try await fixture.deliver(transport, until: .empty)
        #expect(report.acceptedCount == 1 && report.attemptCount == 1)
    }

    @Test(
        "a pause of all sending lasts as long as Apple requires", .inFile,
        arguments: [Duration.seconds(86_400), .seconds(-86_400), .seconds(-600)])
    func paused(step: Duration) async throws {
        try await fixture.addDevices(0..<2)
        try await fixture.enqueue(to: .everyone)
        let (time, started) = (fixture.time, Locked<Courier?>(nil))
        let uptimes = Collected<Int64>()
        let transport = ScriptedTransport { _, _ in
            uptimes.add(time.uptime)
            return uptimes.all.count == 1 ? .apns(429, "TooManyProviderTokenUpdates") : .accepted
        }
        // Once the pause has begun, the clock is set while the courier sleeps.
        let isSet = Locked(false)
        var clock = time.clock
        clock.sleep = { [sleep = clock.sleep] duration in
            let isPaused = await started.withLock { $0 }?.report.deferred.isEmpty == false
            let isFirst = isSet.withLock { isSet in
                defer { isSet = isSet || isPaused }
                return isPaused && !isSet
            }
            if isFirst { time.set(by: step) }
            await sleep(duration)
        }
        let outbox = try await fixture.reopened(clock)
        let courier = Courier(for: outbox, through: transport, limits: Fixture.limits(inFlight: 1))
        started.withLock { $0 = courier }
        let run = Task { try await courier.run() }
        try await eventually("the other device's push is sent") { uptimes.all.count >= 2 }
        await courier.stop()
        _ = try await run.value
        #expect(isSet.withLock { $0 } && uptimes.all[1] - uptimes.all[0] >= 1_200_000)
    }

    @Test(
        "a push that looks expired only because the clock was set ahead isn't lost, and is sent once the clock is right"
    )
    func expired() async throws {
        try await fixture.addDevices(0..<2)
        let soon = fixture.now.advanced(bySeconds: 3_600)
        try await fixture.enqueue("first", to: .device("d0"))
        try await fixture.enqueue("second", to: .device("d0"), expiration: soon)
        let time = fixture.time
        let ahead = ScriptedTransport { _, _ in
            time.set(by: .seconds(86_400))
            return .accepted
        }
        // While they are in transit, an hour mustn't pass.
        let outbox = try await fixture.standingStill()
        #expect(try await fixture.deliver(ahead, from: outbox, inFlight: 1).acceptedCount == 1)
        #expect(try await fixture.outbox.status().deadLetters == ["expired": 1])
        time.set(by: .seconds(-86_400))
        try await fixture.enqueue("third", to: .device("d1"))
        let right = ScriptedTransport()
        try await fixture.deliver(right, from: outbox)
        try await eventually("the push isn't a dead letter anymore") {
            try await outbox.status().deadLetters.isEmpty
        }
        try await fixture.deliver(right, from: outbox)
        #expect(try await fixture.outbox.status().outcomes["accepted"] == 3)
        #expect(right.delivered.all.count == 2)
    }

    @Test("an expired push is still removed by a clock that was set to the right time") func removed() async throws {
        try await fixture.addDevices(0..<2)
        fixture.time.set(by: .seconds(-86_400))
        let soon = fixture.now.advanced(bySeconds: 3_600)
        try await fixture.enqueue("old", to: .device("d0"), expiration: soon)
        fixture.time.set(by: .seconds(86_400))
        try await fixture.enqueue("new", to: .device("d1"))
        let outbox = fixture.outbox
        try await fixture.deliver(until: .empty)
        try await eventually("the purge has run") {
            let status = try await outbox.status()
            return status.waitingCount == 0 && status.deadLetters.isEmpty
        }
        #expect(try await fixture.outbox.status().outcomes == ["accepted": 1, "expired": 1])
    }

    @Test("an operator's purge by a clock that is 40 days ahead deletes nothing that only looks expired")
    func purgedByHand() async throws {
        try await fixture.addDevices(0..<3)
        for name: DeviceName in ["d0", "d1"] { try await fixture.enqueue("waiting", to: .device(name)) }
        fixture.time.set(by: .seconds(40 * 86_400))
        try await fixture.deliver(ScriptedTransport(refusing: 503, nil))
        #expect(try await fixture.outbox.status().deadLetters == ["expired": 2])
        try await fixture.enqueue("new", to: .device("d2"))
        fixture.time.set(by: .seconds(40 * 86_400))
        #expect(try await fixture.outbox.purge(.deadLetters(reason: nil)) == 0)
        #expect(try await fixture.outbox.purge(.deadLetters(reason: "BadDeviceToken")) == 0)
        var status = try await fixture.outbox.status()
        #expect(status.deadLetters == ["expired": 2] && status.waitingCount == 1)
        fixture.time.set(by: .seconds(-80 * 86_400))
        #expect(try await fixture.outbox.retry() == 2)
        #expect(try await fixture.outbox.status().waitingCount == 3)
        fixture.time.set(by: .seconds(40 * 86_400))
        try await fixture.deliver(ScriptedTransport(refusing: 503, nil))
        #expect(try await fixture.outbox.purge(.deadLetters(reason: "expired")) == 2)
        #expect(try await fixture.outbox.purge(.everything) == 1)
        status = try await fixture.outbox.status()
        #expect(status.deadLetters.isEmpty && status.waitingCount == 0)
    }

    @Test("a purge of expired pushes counts those that it deletes among the refused ones") func counted() async throws {
        try await fixture.addDevices(0..<2)
        try await fixture.enqueue(to: .everyone)
        fixture.time.advance(by: .seconds(40 * 86_400))
        try await fixture.deliver(ScriptedTransport(refusing: 503, nil))
        #expect(try await fixture.outbox.status().deadLetters == ["expired": 2])
        #expect(try await fixture.outbox.purge(.expired) == 2)
    }

    @Test("the system's clocks are known: the uptime advances, and the machine's start has a name") func system() async
    {
        let clock = OutboxClock.system
        let start = clock.uptime()
        await clock.sleep(.milliseconds(2))
        #expect(clock.uptime() > start)
        #expect(abs(clock.reading().offset - clock.reading().offset) < 1_000)
        #if os(Linux)
        #expect(clock.boot?.count == 37)
        #endif
    }
}
