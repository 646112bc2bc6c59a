import Foundation
import PushCore
import TestSupport
import Testing

@testable import SimulatedAPNs

@Suite("Each fault of a local APNs", .serialized) struct FaultTests {
    private func start(_ faults: String) async throws -> RunningAPNs {
        let faults = try #require(APNsFaults(parsing: Data(faults.utf8)))
        return try await RunningAPNs { $0.faults = faults }
    }

    @Test(
        "a local APNs returns the error of its faults, and delivers nothing",
        arguments: zip(["tooManyRequests", "serverErrors", "unavailable"], [429, 500, 503]))
    func statuses(name: String, status: Int) async throws {
        let apns = try await start(#"{"\#(name)": 1}"#)
        let client = try await WireClient(apns.address)
        #expect(await apns.send(client) == status)
        #expect(apns.server.deviceCounts.waiting == 0)
        await apns.server.stop()
    }

    @Test("no answer arrives before the latency has passed") func latency() async throws {
        let apns = try await start(#"{"latencyMillisecondsMinimum": 500, "latencyMillisecondsMaximum": 600}"#)
        let client = try await WireClient(apns.address)
        let start = ContinuousClock.now
        #expect(await apns.send(client) == 200)
        #expect(ContinuousClock.now - start >= .milliseconds(490))
        await apns.server.stop()
    }

    @Test("a push with a lost response is delivered but never answered; a reset replaces the answer")
    func noAnswers() async throws {
        let apns = try await start(#"{"lostResponses": 1}"#)
        let client = try await WireClient(apns.address)
        let stream = client.send(apns.headers(), body: #"{"aps":{"alert":"x"}}"#)
        try await eventually("the push is stored") { apns.server.deviceCounts.waiting == 1 }
        #expect(apns.server.core.counts.lostResponses == 1)
        #expect(client.seen.status[stream] == nil && !client.seen.isClosed)
        apns.server.faults = try #require(APNsFaults(parsing: Data(#"{"resets": 1}"#.utf8)))
        let other = try await WireClient(apns.address)
        let reset = other.send(apns.headers(), body: #"{"aps":{"alert":"x"}}"#)
        #expect(await other.wait { $0.reset.contains(reset) }.status[reset] == nil)
        #expect(apns.server.core.counts.resets == 1)
        await apns.server.stop()
    }

    @Test("a connection gets GOAWAY after the number of requests in the faults") func goAway() async throws {
        let apns = try await start(#"{"goAwayEvery": 2}"#)
        let client = try await WireClient(apns.address)
        #expect(await apns.send(client) == 200)
        #expect(client.seen.goAway == nil)
        #expect(await apns.send(client) == 200)
        #expect(await client.wait { $0.isClosed }.goAway == "")
        await apns.server.stop()
    }
}
