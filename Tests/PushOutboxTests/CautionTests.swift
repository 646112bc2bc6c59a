import Foundation
import GRDB
import PushOutbox
import PushSender
import SealedPush
import TestSupport
import Testing

@Suite("A courier is careful", .overForms) struct CautionTests {
    private let fixture: Fixture

    init() async throws { fixture = try await Fixture() }

    @Test(
        "refusals of one token after another end the run, and the rest are neither disabled nor dead letters",
        arguments: [
            "BadDeviceToken", "DeviceTokenNotForTopic", "TopicDisallowed",
        ])
    func allRefused(reason: String) async throws {
        try await fixture.addDevices(0..<20)
        try await fixture.enqueue(to: .everyone)
        let status = reason == "TopicDisallowed" ? 403 : 400
        let transport = ScriptedTransport(refusing: status, reason)
        let problem =
            "APNs refuses one device after another (\(reason)); check that the environment, production or sandbox, and the topic match the tokens"
        await #expect(throws: CourierError.allRefused(reason: reason, problem: problem)) {
            try await fixture.deliver(transport, until: .empty, inFlight: 1, refusedInARow: 5)
        }
        #expect(transport.delivered.all.count == 5)
        let after = try await fixture.outbox.status()
        #expect(after.reachableDeviceCount == (reason == "TopicDisallowed" ? 20 : 16))
        #expect(after.waitingCount == (reason == "TopicDisallowed" ? 20 : 16))
        _ = try await fixture.outbox.retry(reason: reason)
        #expect(try await fixture.deliver(until: .empty).acceptedCount == 20)
    }

    @Test("unproven addresses don't end the run once another address has accepted a push") func strangersRefused()
        async throws
    {
        try await fixture.addDevices(0..<20)
        let good = Fixture.address("d3")
        let transport = ScriptedTransport { request, _ in
            request.address == good ? .accepted : .apns(400, "BadDeviceToken")
        }
        try await fixture.enqueue("First", to: .device("d3"))
        #expect(try await fixture.deliver(transport, until: .empty).acceptedCount == 1)
        try await fixture.enqueue("Second", to: .everyone)
        let report = try await fixture.deliver(transport, until: .empty, inFlight: 1, refusedInARow: 2)
        #expect(report.acceptedCount == 1 && report.refused == ["BadDeviceToken": 19])
    }

    @Test("a token is proven once APNs has accepted a push for it, until it changes or is refused")
    func proven() async throws {
        try await fixture.addDevice("phone")
        let transport = ScriptedTransport()
        for _ in 0..<3 { try await fixture.enqueue(to: .device("phone")) }
        try await fixture.deliver(transport, until: .empty)
        #expect(transport.delivered.all.map(\.isProven) == [false, true, true])
        // Registering the same token again keeps it proven; another token is unproven.
        let old = Fixture.address("phone")
        for (token, isProven) in [(old, true), (Fixture.address("new"), false), (Fixture.address("new"), true)] {
            try await fixture.outbox.setAddress(token, of: "phone", at: fixture.now)
            try await fixture.enqueue(to: .device("phone"))
            try await fixture.deliver(transport, until: .empty)
            #expect(transport.delivered.all.last?.isProven == isProven)
        }
        try await fixture.enqueue(to: .device("phone"))
        try await fixture.deliver(ScriptedTransport(refusing: 400, "BadDeviceToken", times: 1), until: .empty)
        _ = try await fixture.outbox.retry()
        try await fixture.deliver(transport, until: .empty)
        #expect(transport.delivered.all.last?.isProven == false)
    }

    @Test("a push to a new token is sent at once, whatever deferred it for the old one") func newTokenHurries()
        async throws
    {
        try await fixture.addPhone()
        try await fixture.deliver(ScriptedTransport(refusing: 503, "ServiceUnavailable"))
        let transport = ScriptedTransport()
        #expect(try await fixture.deliver(transport).attemptCount == 0, "deferred for 15 minutes")
        try await fixture.outbox.setAddress(Fixture.address("new"), of: "phone", at: fixture.now)
        #expect(try await fixture.deliver(transport).acceptedCount == 1)
    }

    @Test("while the file can't be written, outcomes are kept and recorded as soon as it can", .inFile)
    func lockedFile() async throws {
        try await fixture.addDevice("phone")
        let outbox = try Outbox(at: fixture.path, clock: .system, busyLimit: 0.02, key: Fixture.key)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: fixture.path, configuration: configuration)
        var messageCount = 0
        try await lengthening(.milliseconds(400), "an answer while the file is held") { time in
            try await fixture.enqueue(to: .device("phone"))
            messageCount += 1
            let transport = ScriptedTransport { _, _ in
                try? await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
                Task.detached {
                    try? await Task.sleep(for: time)
                    try? await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
                }
                return .accepted
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
