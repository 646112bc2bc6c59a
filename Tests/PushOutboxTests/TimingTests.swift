import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushOutbox

/// Not in memory: a poll there takes no time, so the clock would be far ahead before a transport answers.
@Suite("A courier and time", .overDatabases) struct TimingTests {
    private let fixture: Fixture

    init() async throws { fixture = try await Fixture() }

    private func addDevices(_ count: Int) async throws {
        try await fixture.addDevices(0..<count)
        try await fixture.enqueue(to: .everyone)
    }

    /// Whether another courier could take a lease now.
    private static func isFree(_ outbox: Outbox) async -> Bool { (try? await outbox.take(7))?.isEmpty == false }

    private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

    @Test("a machine that was suspended sends no push under a lease that has ended in the meantime", arguments: 1...24)
    func stoodStill(look: Int) async throws {
        try await addDevices(1)
        let (time, other) = (fixture.time, fixture.outbox)
        // It is suspended, for exactly as long as a lease lasts, when the courier reads the clock for the nth time. Several tasks
        // read it; what counts is the latest reading of the one that sends.
        let looks = Locked((count: 0, latest: [Int?: Int]()))
        let clock = OutboxClock(
            now: {
                let count = looks.withLock { looks in
                    looks.count += 1
                    looks.latest[Self.currentTask] = looks.count
                    return looks.count
                }
                if count == look { time.advance(by: .seconds(120)) }
                return time.now
            }, sleep: time.clock.sleep)
        let outbox = try await fixture.reopened(clock)
        let transport = ScriptedTransport { _, _ in
            // A push that is already in transit can't be recalled.
            let isOut = looks.withLock { $0.latest[Self.currentTask] ?? 0 } < look
            let isFree = await Self.isFree(other)
            #expect(!isFree || isOut && looks.withLock { $0.count } >= look, "another may send it, too")
            return .accepted
        }
        try await fixture.deliver(transport, from: outbox, until: .empty)
        #expect(try await fixture.outbox.status().waitingCount == 0)
    }

    @Test("a push stays with its courier as long as the answer is outstanding, however long that is")
    func longAnswer() async throws {
        try await addDevices(3)
        let (time, other) = (fixture.time, fixture.outbox)
        let transport = ScriptedTransport { _, _ in
            let start = time.now
            while time.now < start + 1_200_000 {
                if await Self.isFree(other) { return .apns(418, "another has it") }
                await Task.yield()
            }
            return .accepted
        }
        let report = try await fixture.deliver(transport, until: .empty)
        #expect(report.acceptedCount == 3 && report.attemptCount == 3)
    }

    @Test("after too many new provider tokens, no push is sent for twenty minutes, whatever else fails")
    func longestPauseWins() async throws {
        try await addDevices(60)
        let time = fixture.time
        let start = time.now
        let state = Locked((isRefused: false, courier: Courier?.none))
        let accepted = Collected<Int64>()
        let transport = ScriptedTransport { _, _ in
            let isFirst = state.withLock { state in
                defer { state.isRefused = true }
                return !state.isRefused
            }
            if isFirst { return .apns(429, "TooManyProviderTokenUpdates") }
            guard time.now < start + 1_000_000 else {
                accepted.add(time.now)
                return .accepted
            }
            // Fails after the refusal has been recorded.
            let courier = state.withLock { $0.courier }
            try? await eventually("the refusal is recorded") { await courier?.report.deferred.isEmpty == false }
            return .failure(.unreachable("no route"))
        }
        let courier = Courier(for: fixture.outbox, through: transport, limits: Fixture.limits(inFlight: 60))
        state.withLock { $0.courier = courier }
        let report = try await courier.run(until: .empty)
        #expect(report.deferred == ["TooManyProviderTokenUpdates": 1, "unreachable": 59])
        #expect(accepted.all.allSatisfy { $0 >= start + 1_080_000 }, "\(accepted.all.map { $0 - start })")
    }

    @Test("fifty consecutive failures pause everything for a moment, unless there is a success among them")
    func failingPauses() async throws {
        try await addDevices(120)
        let time = fixture.time
        let times = Collected<Int64>()
        let failing = ScriptedTransport { _, _ in
            times.add(time.now)
            return times.all.count < 100 ? .failure(.timedOut) : .accepted
        }
        try await fixture.deliver(failing, until: .empty, inFlight: 1)
        #expect(times.all[50] - times.all[49] >= 900)

        // While the clock stands still, a pause never ends. The next one begins fifty pushes after the success.
        try await fixture.enqueue(to: .everyone)
        let sent = Locked(0)
        let succeeding = ScriptedTransport { _, _ in
            let count = sent.withLock { sent in
                sent += 1
                return sent
            }
            return count == 40 ? .accepted : .failure(.timedOut)
        }
        let courier = Courier(
            for: try await fixture.standingStill(), through: succeeding, limits: Fixture.limits(inFlight: 1))
        let run = Task { try await courier.run() }
        try await eventually("pushes are sent until the next pause") { sent.withLock { $0 } == 90 }
        await courier.stop()
        _ = try await run.value
        #expect(sent.withLock { $0 } == 90)
    }

    @Test("a push that doesn't end in time is cut off and returned, and the run ends") func drains() async throws {
        try await addDevices(1)
        let (hasBegun, isCutOff) = (Locked(false), Locked(false))
        // Once the courier is stopped. Until then, the time advances as fast as the courier polls.
        let (time, stopped) = (fixture.time, Locked<Int64?>(nil))
        let transport = ScriptedTransport { _, _ in
            hasBegun.withLock { $0 = true }
            while !Task.isCancelled, time.now - (stopped.withLock { $0 } ?? time.now) < 900_000 { await Task.yield() }
            isCutOff.withLock { $0 = Task.isCancelled }
            return .accepted
        }
        let courier = Courier(for: fixture.outbox, through: transport, limits: Fixture.limits())
        let run = Task { try await courier.run() }
        try await eventually("the push is in transit") { hasBegun.withLock { $0 } }
        await courier.stop()
        let start = time.now
        stopped.withLock { $0 = start }
        _ = try await run.value
        #expect(time.now - start < 300_000)
        try await eventually("the push is cut off") { isCutOff.withLock { $0 } }
        let queues = try await fixture.outbox.status().queues
        #expect(queues.due == 1 && queues.leased == 0)
        try await Task.sleep(for: .milliseconds(20))
        #expect(await courier.report.acceptedCount == 0, "it was returned, and may belong to another courier by now")
    }

    @Test("with a clock that is ahead, no push is deleted before APNs has accepted one")
    func purgesOnceProven() async throws {
        try await addDevices(1)
        try await fixture.addDevice("other", user: "ben", environment: .sandbox)
        try await fixture.enqueue(to: .device("other"), expiration: fixture.now.advanced(bySeconds: 60))
        fixture.time.advance(by: .seconds(120))
        try await fixture.deliver(ScriptedTransport(refusing: 503, "ServiceUnavailable"))
        try await Task.sleep(for: .milliseconds(20))
        #expect(try await fixture.outbox.status().waitingCount == 2)
        try await fixture.deliver(until: .empty)
        let outbox = fixture.outbox
        fixture.time.advance(by: .seconds(1))
        try await fixture.enqueue(to: .device("d0"))
        try await fixture.enqueue(to: .device("d0"))
        try await fixture.deliver(until: .empty)
        try await eventually("the purge has run") { try await outbox.status().waitingCount == 0 }
    }

    @Test("a courier that never stops deletes what has expired, again and again") func purgesHourly() async throws {
        try await addDevices(1)
        let (outbox, refuses) = (fixture.outbox, Locked(false))
        let transport = ScriptedTransport { _, _ in
            refuses.withLock { $0 } ? .apns(413, "PayloadTooLarge") : .accepted
        }
        let courier = Courier(for: outbox, through: transport, limits: Fixture.limits())
        let run = Task { try await courier.run() }
        try await eventually("the clock is proven") { try await outbox.status().waitingCount == 0 }
        refuses.withLock { $0 = true }
        // Refused, it stays as a dead letter until it has expired. Only a later purge can delete the second one.
        for round in 1...2 {
            try await fixture.enqueue(
                "\(round)", to: .device("d0"), expiration: fixture.now.advanced(bySeconds: 86_400))
            try await eventually("purge \(round) has run") {
                let status = try await outbox.status()
                return status.waitingCount == 0 && status.deadLetters.isEmpty
            }
        }
        await courier.stop()
        _ = try await run.value
    }

    @Test("pushes that look expired can be recovered until APNs has accepted a push, and block no other pushes")
    func keptUntilProven() async throws {
        try await fixture.addDevices(0..<2)
        let soon = fixture.now.advanced(bySeconds: 60)
        try await fixture.enqueue("Old", to: .device("d0"), expiration: soon)
        try await fixture.enqueue("New", to: .device("d1"))
        fixture.time.advance(by: .seconds(40 * 86_400))
        #expect(try await fixture.deliver(until: .empty).attemptCount == 0)
        #expect(try await fixture.outbox.status().deadLetters == ["expired": 2])
        // The clock was wrong, and is set back: both are sent.
        fixture.time.advance(by: .seconds(-40 * 86_400))
        #expect(try await fixture.outbox.retry() == 2)
        #expect(try await fixture.deliver(from: fixture.standingStill()).acceptedCount == 2)
        // The clock is right: the next push is sent, and then the old one is deleted permanently.
        try await fixture.enqueue("Old", to: .device("d0"), expiration: soon)
        fixture.time.advance(by: .seconds(120))
        try await fixture.enqueue("New", to: .device("d0"))
        #expect(try await fixture.deliver(until: .empty).acceptedCount == 1)
        let outbox = fixture.outbox
        try await eventually("the purge has run") { try await outbox.status().deadLetters.isEmpty }
    }

    @Test("a token that changed while a push was in transit is not proven by it") func provenToken() async throws {
        try await addDevices(1)
        let fixture = fixture
        let new = Fixture.address("new")
        let transport = ScriptedTransport { _, _ in
            try? await fixture.outbox.setAddress(new, of: "d0", at: fixture.now)
            return .accepted
        }
        try await fixture.deliver(transport, until: .empty)
        try await fixture.enqueue(to: .device("d0"))
        let next = ScriptedTransport()
        try await fixture.deliver(next, until: .empty)
        #expect(next.delivered.all.map(\.address) == [new])
        #expect(next.delivered.all.map(\.isProven) == [false])
    }
}
