import Foundation
import NIOHTTP2
import TestSupport
import Testing

@testable import SimulatedAPNs

@Suite("Connections that a provider holds without using them", .serialized) struct HeldConnectionTests {
    @Test(
        "a client that doesn't send SETTINGS within the handshake timeout is disconnected",
        arguments: [0, 10, RawConnection.preface.count])
    func noSettings(byteCount: Int) async throws {
        let apns = try await RunningAPNs { $0.handshakeTimeout = .milliseconds(500) }
        let client = try await RawConnection(port: apns.address.port, root: apns.address.root)
        client.send(Array(RawConnection.preface.prefix(byteCount)))
        #expect(await client.wait { $0.isClosed })
        #expect(try await apns.events("handshake-timeout").count == 1)
        await apns.server.stop()
    }

    @Test("a client that has sent SETTINGS may delay its first request") func settings() async throws {
        try await lengthening(.milliseconds(500), "SETTINGS within the handshake timeout") { limit in
            let apns = try await RunningAPNs { $0.handshakeTimeout = limit }
            let client = try await WireClient(apns.address)
            await client.wait { !$0.streamLimits.isEmpty || $0.isClosed }
            try await Task.sleep(for: limit * 2)
            let status = client.seen.isClosed ? nil : await apns.send(client)
            await apns.server.stop()
            return status == 200
        }
    }

    @Test("a client's GOAWAY closes the connection after the remaining answers") func peerGoAway() async throws {
        let apns = try await RunningAPNs { $0.closingTime = .milliseconds(100) }
        let client = try await WireClient(apns.address)
        #expect(await apns.send(client) == 200)
        client.goAway()
        #expect(await client.wait { $0.isClosed }.isClosed)

        var faults = APNsFaults()
        faults.latencyMillisecondsMinimum = 1_000
        faults.latencyMillisecondsMaximum = 1_000
        apns.server.faults = faults
        let waiting = try await WireClient(apns.address)
        let stream = waiting.send(apns.headers(), body: #"{"aps":{"alert":"x"}}"#)
        waiting.goAway()
        #expect(await waiting.wait { $0.isClosed }.status[stream] == 200)
        await apns.server.stop()
    }

    @Test("a request that is incomplete at a client's GOAWAY is waited for until the closing time is over")
    func peerGoAwayWithOpenRequest() async throws {
        let apns = try await RunningAPNs { $0.closingTime = .milliseconds(500) }
        let client = try await WireClient(apns.address)
        let open = client.send(apns.headers(), body: nil)
        client.goAway()
        #expect(await client.wait { $0.isClosed }.isClosed)
        #expect(client.seen.status[open] == nil)
        await apns.server.stop()
    }

    @Test(
        "answers delayed by the latency fault arrive even after GOAWAY and the closing time",
        arguments: [true, false])
    func delayedAnswers(isShutdown: Bool) async throws {
        let apns = try await RunningAPNs {
            $0.closingTime = .milliseconds(50)
            $0.faults.latencyMillisecondsMinimum = 1_000
            $0.faults.latencyMillisecondsMaximum = 1_000
        }
        let client = try await WireClient(apns.address)
        let stream = client.send(apns.headers(), body: #"{"aps":{"alert":"x"}}"#)
        try await eventually("the push is accepted") { apns.server.deviceCounts.waiting == 1 }
        if isShutdown { await apns.server.stop() } else { apns.server.goAway(nil) }
        let seen = await client.wait { $0.isClosed }
        #expect(seen.goAway != nil)
        #expect(seen.status[stream] == 200)
        if !isShutdown { await apns.server.stop() }
    }
}
