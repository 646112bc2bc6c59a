import Foundation
import TestSupport
import TestThreads
import Testing
import _PushBase

@testable import SimulatedAPNs

@Suite("Each fault of device-simulator apns", .serialized, .blocking)
struct FaultFlagTests {
    @Test("--rate-429, --rate-500, --rate-503", arguments: [429, 500, 503])
    func statuses(_ status: Int) async throws {
        let apns = try await RunningCommand("--rate-\(status)", "1")
        let client = try await WireClient(apns.address)
        #expect(await apns.send(client) == status)
        #expect(try apns.control.ask("GET", "/status")["devices", "waiting"] as? Int == 0)
        apns.stop()
    }

    @Test("--latency: no answer comes sooner")
    func latency() async throws {
        let apns = try await RunningCommand("--latency", "500-600")
        let client = try await WireClient(apns.address)
        let start = ContinuousClock.now
        #expect(await apns.send(client) == 200)
        #expect(ContinuousClock.now - start >= .milliseconds(490))
        apns.stop()
    }

    @Test("--lost: delivered and never answered; --resets: reset in place of an answer")
    func noAnswers() async throws {
        let apns = try await RunningCommand("--lost", "1")
        let client = try await WireClient(apns.address)
        let stream = client.send(apns.headers(), body: RunningCommand.body)
        try await eventually("it is stored") { try apns.outcome("stored") == 1 }
        #expect(try apns.control.ask("GET", "/status")["requests", "lostResponses"] as? Int == 1)
        #expect(client.seen.status[stream] == nil && !client.seen.isClosed)
        apns.stop()

        let second = try await RunningCommand("--resets", "1")
        let other = try await WireClient(second.address)
        let reset = other.send(second.headers(), body: RunningCommand.body)
        #expect(await other.wait { $0.reset.contains(reset) }.status[reset] == nil)
        #expect(try second.control.ask("GET", "/status")["requests", "resets"] as? Int == 1)
        second.stop()
    }

    @Test("--duplicates: twice; --drops: answered with 200, and not at all")
    func deliveries() async throws {
        let apns = try await RunningCommand("--duplicates", "1")
        let client = try await WireClient(apns.address)
        try await apns.arrivals { ids throws in
            #expect(await apns.send(client) == 200)
            try await eventually("it is shown twice") { ids.withLock { $0.count == 2 && $0[0] == $0[1] } }
        }
        apns.stop()

        let dropping = try await RunningCommand("--drops", "1")
        let other = try await WireClient(dropping.address)
        try await dropping.arrivals { ids throws in
            #expect(await dropping.send(other) == 200)
            #expect(try dropping.outcome("dropped") == 1)
            #expect(try dropping.control.ask("PUT", "/faults", "{}").status == 200)
            #expect(await dropping.send(other) == 200)
            try await eventually("it is shown") { ids.withLock { !$0.isEmpty } }
            #expect(ids.withLock { $0.count } == 1)
        }
        dropping.stop()
    }

    @Test("--reorder: after the device's next one")
    func reorder() async throws {
        // The clock of "a second later" is the server's: with it, the first may come by itself on a slow machine.
        let apns = try await RunningCommand("--reorder", "1")
        let client = try await WireClient(apns.address)
        try await apns.arrivals { ids throws in
            #expect(await apns.send(client) == 200)
            #expect(try apns.outcome("held-back") == 1)
            try await eventually("it is shown a second later") { ids.withLock { $0.count == 1 } }
        }
        apns.stop()
    }

    @Test("--goaway-every")
    func goAway() async throws {
        let apns = try await RunningCommand("--goaway-every", "2")
        let client = try await WireClient(apns.address)
        #expect(await apns.send(client) == 200)
        #expect(client.seen.goAway == nil)
        #expect(await apns.send(client) == 200)
        #expect(await client.wait { $0.isClosed }.goAway == "")
        apns.stop()
    }

    @Test("--seed: the same faults again")
    func seed() async throws {
        func statuses(seed: String) async throws -> [Int?] {
            let apns = try await RunningCommand("--seed", seed, "--rate-500", "0.5")
            #expect(apns.address.seed == UInt64(seed))
            let client = try await WireClient(apns.address)
            var all: [Int?] = []
            for _ in 0..<40 { all.append(await apns.send(client)) }
            apns.stop()
            return all
        }
        let first = try await statuses(seed: "7")
        #expect(Set(first) == [200, 500])
        #expect(try await statuses(seed: "7") == first)
        #expect(try await statuses(seed: "8") != first)
    }
}
