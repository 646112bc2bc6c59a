import Foundation
import PushCore
import SealedPush
import TestSupport
import Testing

@testable import PushSimulator
@testable import SimulatedAPNs

@Suite("A local APNs as a provider sees it", .serialized) struct WireTests {
    private let bad = "/3/device/" + String(repeating: "0", count: 64)

    @Test(
        "there is one stream at first, 1,000 after a success, and the faults' number after an error",
        arguments: [1, 3])
    func streamLimits(afterError: Int) async throws {
        let apns = try await RunningAPNs { $0.faults.streamsAfterError = afterError }
        let client = try await WireClient(apns.address)
        #expect(await client.wait { !$0.streamLimits.isEmpty }.streamLimits == [1])
        #expect(await apns.send(client) == 200)
        #expect(await apns.send(client, path: bad) == 400)
        #expect(await apns.send(client) == 200)
        #expect(await client.wait { $0.streamLimits.count == 4 }.streamLimits == [1, 1_000, afterError, 1_000])
        await apns.server.stop()
    }

    @Test("an answer has the ID, and the reason as JSON; the sandbox adds its own ID") func answers() async throws {
        let apns = try await RunningAPNs { $0.environment = .sandbox }
        let client = try await WireClient(apns.address)
        let id = "2c4a3a56-0000-4000-8000-00000000abcd"
        let good = client.send(apns.headers([("apns-id", id)]), body: #"{"aps":{"alert":"x"}}"#)
        var seen = await client.wait { $0.ended.contains(good) }
        #expect(seen.status[good] == 200)
        #expect(seen.ids[good] == id)
        #expect(seen.uniqueIDs[good]?.count == 36)
        #expect(seen.bodies[good] == nil)
        let refused = client.send(apns.headers(path: bad, [("apns-id", id)]), body: #"{"aps":{"alert":"x"}}"#)
        seen = await client.wait { $0.ended.contains(refused) }
        #expect(seen.ids[refused] == id)
        #expect(seen.bodies[refused] == #"{"reason":"BadDeviceToken"}"#)
        #expect(apns.server.setState(.unregistered, token: apns.token, since: 1_700_000_000_123))
        let gone = client.send(apns.headers(), body: #"{"aps":{"alert":"x"}}"#)
        seen = await client.wait { $0.ended.contains(gone) }
        #expect(seen.status[gone] == 410)
        #expect(seen.bodies[gone] == #"{"reason":"Unregistered","timestamp":1700000000123}"#)
        await apns.server.stop()
    }

    @Test("a shutdown ends a connection with its reason") func goAways() async throws {
        let apns = try await RunningAPNs()
        let last = try await WireClient(apns.address)
        #expect(await apns.send(last) == 200)
        await apns.server.stop()
        #expect(await last.wait { $0.goAway != nil }.goAway == #"{"reason":"Shutdown"}"#)
    }

    @Test("an idle connection ends with its reason") func idleness() async throws {
        let apns = try await RunningAPNs { $0.idleTimeout = .milliseconds(500) }
        let client = try await WireClient(apns.address)
        #expect(await client.wait { $0.goAway != nil }.goAway == #"{"reason":"IdleTimeout"}"#)
        #expect(await client.wait { $0.isClosed }.isClosed)
        await apns.server.stop()
    }

    @Test("requests accepted before GOAWAY are answered, even if the provider has sent more by then")
    func answersAfterGoAway() async throws {
        try await lengthening(.seconds(2), "the answers, before the connection closes") { time in
            let apns = try await RunningAPNs { $0.closingTime = time }
            var faults = APNsFaults()
            faults.goAwayEvery = 5
            faults.latencyMillisecondsMinimum = 100
            faults.latencyMillisecondsMaximum = 100
            apns.server.faults = faults
            let client = try await WireClient(apns.address)
            #expect(await apns.send(client) == 200)
            let streams = (0..<20).map { _ in client.send(apns.headers(), body: #"{"aps":{"alert":"x"}}"#) }
            let seen = await client.wait { $0.isClosed }
            #expect(seen.goAway == "")
            #expect(streams.dropFirst(4).allSatisfy { seen.status[$0] == nil })
            await apns.server.stop()
            return streams.prefix(4).allSatisfy { seen.status[$0] == 200 }
        }
    }

    @Test("the server restarts with the same certificate, keys, devices, and waiting notifications")
    func restart() async throws {
        let first = try await RunningAPNs()
        let root = try String(contentsOfFile: first.address.root, encoding: .utf8)
        let client = try await WireClient(first.address)
        #expect(await first.send(client, body: #"{"aps":{"alert":"kept"}}"#) == 200)
        await #expect(throws: LocalAPNsError.self) { try await RunningAPNs(in: first.folder) }
        await first.server.stop()
        let second = try await RunningAPNs(in: first.folder)
        #expect(try String(contentsOfFile: second.address.root, encoding: .utf8) == root)
        #expect(second.address.keyID == first.address.keyID)
        #expect(second.token == first.token)
        #expect(try await second.works() == true)
        await second.server.stop()
    }

    @Test(
        "a certificate that has expired, or will within a day, is replaced, together with its root",
        arguments: [-86_400.0, 3_600.0, 2_592_000.0])
    func expiredCertificate(secondsLeft: Double) async throws {
        let folder = try TemporaryFolder()
        let server = folder.appending("APNs")
        try FileManager.default.createDirectory(at: server, withIntermediateDirectories: true)
        let validity = 90 * 86_400.0
        let old = try LocalCertificate.make(at: .now.addingTimeInterval(secondsLeft - validity), validity: validity)
        for (name, text) in [
            ("root.pem", old.rootPEM), ("server.pem", old.certificatePEM), ("server-key.pem", old.keyPEM),
        ] { try Data(text.utf8).write(to: server.appending(path: name)) }
        let apns = try await RunningAPNs(in: folder)
        let isKept = secondsLeft > 86_400
        let root = try String(contentsOfFile: apns.address.root, encoding: .utf8)
        let certificate = try String(contentsOf: server.appending(path: "server.pem"), encoding: .utf8)
        #expect((root == old.rootPEM) == isKept)
        #expect((certificate == old.certificatePEM) == isKept)
        #expect(try await apns.works())
        await apns.server.stop()
    }

    @Test("a request that is far too long is answered early, and the connection continues") func long() async throws {
        let apns = try await RunningAPNs()
        let client = try await WireClient(apns.address)
        // Repeat ten times: data after the answer must not use up the connection's window.
        let long = String(repeating: "x", count: 1_000_000)
        for _ in 0..<10 { #expect(await apns.send(client, body: long) == 413) }
        #expect(await apns.send(client) == 200)
        await apns.server.stop()
    }

    @Test("a request whose body drips in is reset when its time is up, however often a byte arrives")
    func drippingBody() async throws {
        try await lengthening(.milliseconds(500), "a whole request within the limit") { limit in
            let apns = try await RunningAPNs { $0.requestTimeout = limit }
            let client = try await WireClient(apns.address)
            let stream = client.send(apns.headers(), body: nil)
            let dripping = Task {
                while !Task.isCancelled {
                    client.send(" ", on: stream)
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            let seen = await client.wait { $0.reset.contains(stream) || $0.ended.contains(stream) }
            dripping.cancel()
            #expect(seen.reset.contains(stream))
            #expect(apns.server.deviceCounts.waiting == 0)
            let isInTime = await apns.send(client) == 200
            await apns.server.stop()
            return isInTime
        }
    }

    @Test("headers of 10,000 bytes do no harm") func longHeaders() async throws {
        let apns = try await RunningAPNs()
        let client = try await WireClient(apns.address)
        let stream = client.send(
            apns.headers([("x-long", String(repeating: "x", count: 10_000))]), body: #"{"aps":{"alert":"x"}}"#)
        let seen = await client.wait { $0.isClosed || $0.reset.contains(stream) || $0.ended.contains(stream) }
        #expect(seen.isClosed || seen.reset.contains(stream) || seen.status[stream] ?? 200 != 200)
        #expect(apns.server.deviceCounts.waiting == 0, "the device gets nothing")
        #expect(try await apns.works() == true)
        await apns.server.stop()
    }
}
