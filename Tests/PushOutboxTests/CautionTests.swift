import Foundation
import GRDB
import PushOutbox
import PushSender
import SealedPush
import TestSupport
import Testing

@Suite("A courier is careful", .overStores) struct CautionTests {
    private let fixture: Fixture

    init() async throws { fixture = try await Fixture() }

    @Test("a 410 that does not say since when costs no token: it is tried three times, then kept as refused")
    func goneWithoutTime() async throws {
        try await fixture.addDevice("phone")
        try await fixture.enqueue("Hello", to: .device("phone"))
        let twice = ScriptedTransport(refusing: 410, "Unregistered", times: 2)
        #expect(try await fixture.deliver(twice, until: .empty).acceptedCount == 1)
        try await fixture.enqueue("Hello", to: .device("phone"))
        try await fixture.deliver(ScriptedTransport(refusing: 410, "Unregistered"), until: .empty)
        guard case .active = try await fixture.outbox.device("phone")?.address else {
            Issue.record("the token was taken away")
            return
        }
        #expect(try await fixture.outbox.status().deadLetters == ["Unregistered": 1])
        #expect(try await fixture.outbox.retry() == 1)
    }

    @Test(
        "token after token refused ends the run, and the rest are neither disabled nor dead",
        arguments: [
            "BadDeviceToken", "DeviceTokenNotForTopic", "TopicDisallowed",
        ])
    func allRefused(reason: String) async throws {
        try await fixture.addDevices(0..<20)
        try await fixture.enqueue("Hello", to: .everyone)
        let status = reason == "TopicDisallowed" ? 403 : 400
        let transport = ScriptedTransport(refusing: status, reason)
        let problem =
            "APNs refuses one device after another (\(reason)): is this the environment, production or sandbox, and the app that the tokens are of?"
        await #expect(throws: CourierError.allRefused(reason: reason, problem: problem)) {
            try await Courier(
                for: fixture.outbox, through: transport, limits: Fixture.limits(refusedInARow: 5)
            ).run(until: .empty)
        }
        #expect(transport.delivered.all.count == 5)
        let after = try await fixture.outbox.status()
        #expect(after.reachableDeviceCount == (reason == "TopicDisallowed" ? 20 : 16))
        #expect(after.waitingCount == (reason == "TopicDisallowed" ? 20 : 16))
        _ = try await fixture.outbox.retry(reason: reason)
        #expect(try await fixture.deliver(ScriptedTransport(), until: .empty).acceptedCount == 20)
    }

    @Test(
        "addresses that never took a push end nothing where another one did, in this run or before",
        arguments: [true, false])
    func strangersRefused(isEarlier: Bool) async throws {
        try await fixture.addDevices(0..<20)
        let good = Fixture.address("d3")
        let transport = ScriptedTransport { request, _ in
            .success(request.address == good ? .accepted(uniqueID: nil) : .apns(400, "BadDeviceToken"))
        }
        if isEarlier {
            try await fixture.enqueue("First", to: .device("d3"))
            #expect(try await fixture.deliver(transport, until: .empty).acceptedCount == 1)
        }
        // Three are refused before the good one is taken, the others after it.
        try await fixture.enqueue("Second", to: .everyone)
        let limits = Fixture.limits(refusedInARow: isEarlier ? 2 : 4)
        let report = try await Courier(for: fixture.outbox, through: transport, limits: limits).run(until: .empty)
        #expect(report.acceptedCount == 1 && report.dead == ["BadDeviceToken": 19])
    }

    @Test("addresses that took pushes before do end the run, when one after another is refused")
    func knownRefused() async throws {
        try await fixture.addDevices(0..<20)
        try await fixture.enqueue("First", to: .everyone)
        #expect(try await fixture.deliver(ScriptedTransport(), until: .empty).acceptedCount == 20)
        try await fixture.enqueue("Second", to: .everyone)
        let transport = ScriptedTransport(refusing: 400, "BadDeviceToken")
        let courier = Courier(for: fixture.outbox, through: transport, limits: Fixture.limits(refusedInARow: 5))
        await #expect(throws: CourierError.self) { try await courier.run(until: .empty) }
        #expect(transport.delivered.all.count == 5)
    }

    @Test("bad tokens among good ones end nothing") func someRefused() async throws {
        try await fixture.addDevices(0..<40)
        try await fixture.enqueue("Hello", to: .everyone)
        let good = Fixture.address("d3")
        for _ in 0..<12 { try await fixture.enqueue("Hello", to: .device("d3")) }
        let transport = ScriptedTransport { request, _ in
            request.address == good ? .success(.accepted(uniqueID: nil)) : .success(.apns(400, "BadDeviceToken"))
        }
        let report = try await Courier(
            for: fixture.outbox, through: transport, limits: Fixture.limits(refusedInARow: 100)
        ).run(until: .empty)
        #expect(report.acceptedCount == 13)
        #expect(report.dead == ["BadDeviceToken": 39])
    }

    @Test("a token counts as proven once APNs has taken a push for it, until it changes or is refused")
    func proven() async throws {
        try await fixture.addDevice("phone")
        let transport = ScriptedTransport()
        for _ in 0..<3 { try await fixture.enqueue("Hello", to: .device("phone")) }
        try await fixture.deliver(transport, until: .empty)
        #expect(transport.delivered.all.map { $0.isProven } == [false, true, true])
        // The same token registered once more is still proven; another is not.
        let old = Fixture.address("phone")
        for (token, isProven) in [(old, true), (Fixture.address("new"), false), (Fixture.address("new"), true)] {
            try await fixture.outbox.setAddress(token, of: "phone", at: fixture.now)
            try await fixture.enqueue("Hello", to: .device("phone"))
            try await fixture.deliver(transport, until: .empty)
            #expect(transport.delivered.all.last?.isProven == isProven)
        }
        try await fixture.enqueue("Hello", to: .device("phone"))
        try await fixture.deliver(ScriptedTransport(refusing: 400, "BadDeviceToken", times: 1), until: .empty)
        _ = try await fixture.outbox.retry()
        try await fixture.deliver(transport, until: .empty)
        #expect(transport.delivered.all.last?.isProven == false)
    }

    @Test("a new token is sent to at once, whatever the old one was put off for") func newTokenHurries() async throws {
        try await fixture.addDevice("phone")
        try await fixture.enqueue("Hello", to: .device("phone"))
        try await fixture.deliver(ScriptedTransport(refusing: 503, "ServiceUnavailable"))
        let transport = ScriptedTransport()
        #expect(try await fixture.deliver(transport).attemptCount == 0, "put off for 15 minutes")
        try await fixture.outbox.setAddress(Fixture.address("new"), of: "phone", at: fixture.now)
        #expect(try await fixture.deliver(transport).acceptedCount == 1)
    }

    @Test("a clock that is set back by hours does not keep a pause going, nor what was put off")
    func clockSetBack() async throws {
        try await fixture.addDevice("phone")
        try await fixture.enqueue("Hello", to: .device("phone"))
        let time = fixture.time
        let start = time.now
        let transport = ScriptedTransport { _, count in
            guard count == 1 else { return .success(.accepted(uniqueID: nil)) }
            time.advance(by: .seconds(-7_200))
            return .success(.apns(429, "TooManyProviderTokenUpdates"))
        }
        #expect(try await fixture.deliver(transport, until: .empty).acceptedCount == 1)
        #expect(time.now < start)
    }

    @Test("while the file can't be written, answers are kept and noted as soon as it can", .inFile)
    func lockedFile() async throws {
        try await fixture.addDevice("phone")
        let outbox = try Outbox(at: fixture.path, clock: .system, busyLimit: 0.02)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: fixture.path, configuration: configuration)
        var messageCount = 0
        try await lengthening(.milliseconds(400), "an answer while the file is held") { time in
            try await fixture.enqueue("Hello", to: .device("phone"))
            messageCount += 1
            let transport = ChangingTransport { _ in
                try? await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
                Task.detached {
                    try? await Task.sleep(for: time)
                    try? await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
                }
                return .accepted(uniqueID: nil)
            }
            var problem: CourierError?
            do throws(CourierError) {
                _ = try await Courier(for: outbox, through: transport).run(until: .empty)
            } catch { problem = error }
            #expect(problem == nil || problem == .outbox(.busy))
            #expect(try await outbox.status().outcomes == ["accepted": messageCount])
            #expect(try await outbox.status().waitingCount == 0)
            return problem != nil
        }
    }
}
