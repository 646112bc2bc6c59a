import Foundation
import TestPrograms
import TestSupport
import Testing

@testable import PushSimulator
@testable import SimulatedAPNs

/// Third-party programs, over real TLS, get the answers that Apple would give.
@Suite("Independent clients", .serialized, .blocking) struct IndependentClientTests {
    private static let body = #"{"aps":{"alert":"x"}}"#

    private func curl(_ apns: RunningAPNs, path: String? = nil, _ more: [String] = []) throws -> Program.Result {
        try Program(at: "/usr/bin/curl").run(
            [
                "--silent", "--show-error", "--max-time", "300", "--cacert", apns.address.root, "--header",
                "authorization: \(apns.authorization)", "--header", "apns-topic: \(APNsFixture.topic)", "--header",
                "apns-push-type: alert", "--data", Self.body, "--write-out", "\n%{http_code} %{http_version}",
            ] + more + ["https://localhost:\(apns.address.port)\(path ?? "/3/device/\(apns.token)")"])
    }

    @Test("curl gets 200 for a valid push over TLS 1.2 and 1.3, or Apple's reason") func curl() async throws {
        let apns = try await RunningAPNs()
        for version in ["1.2", "1.3"] {
            #expect(try curl(apns, ["--http2", "--tlsv\(version)", "--tls-max", version]).output == "\n200 2")
        }
        let bad = "/3/device/" + String(repeating: "0", count: 64)
        #expect(try curl(apns, path: bad, ["--http2"]).output == "{\"reason\":\"BadDeviceToken\"}\n400 2")
        #expect(try curl(apns, path: "/", ["--http2"]).output == "{\"reason\":\"BadPath\"}\n404 2")
        #expect(try curl(apns, ["--http2", "--request", "GET"]).output == "{\"reason\":\"MethodNotAllowed\"}\n405 2")
        await apns.server.stop()
    }

    @Test("HTTP/1.1, old TLS, another root, and another protocol are disconnected, and the next request works")
    func refused() async throws {
        let apns = try await RunningAPNs()
        #expect(try curl(apns, ["--http1.1"]).status != 0)
        #expect(try curl(apns, ["--http2", "--tlsv1.0", "--tls-max", "1.1"]).status != 0)
        #expect(try curl(apns, ["--http2", "--cacert", "/etc/ssl/certs/ca-certificates.crt"]).status == 60)
        let openssl = try Program(at: "/usr/bin/openssl").run(
            ["s_client", "-connect", "127.0.0.1:\(apns.address.port)", "-alpn", "spdy/3"],
            input: "GET / HTTP/1.1\r\n\r\n")
        #expect(!openssl.output.contains("HTTP/"))
        #expect(try curl(apns, ["--http2"]).output == "\n200 2")
        await apns.server.stop()
    }

    @Test("h2load sends thousands of pushes over four connections without an error") func h2load() async throws {
        let apns = try await RunningAPNs()
        let body = try apns.folder.write(Self.body, to: "body.json")
        let count = Thoroughness.count(6_000, thorough: 20_000)
        let result = try Program(at: "/usr/bin/h2load").run([
            "--requests=\(count)", "--clients=4", "--max-concurrent-streams=50", "--data=\(body)",
            "--header=authorization: \(apns.authorization)", "--header=apns-topic: \(APNsFixture.topic)",
            "--header=apns-push-type: alert", "https://127.0.0.1:\(apns.address.port)/3/device/\(apns.token)",
        ])
        #expect(result.status == 0)
        #expect(result.output.contains("\(count) succeeded, 0 failed, 0 errored, 0 timeout"), "\(result.output)")
        #expect(result.output.contains("status codes: \(count) 2xx, 0 3xx, 0 4xx, 0 5xx"))
        #expect(try await apns.works() == true)
        await apns.server.stop()
    }

    @Test("aioapns gets the right answers") func aioapns() async throws {
        let apns = try await RunningAPNs {
            // aioapns 4.0 loses count of its free streams when the limit is raised, and waits forever once it's
            // lowered.
            $0.faults.streamsAfterError = 1_000
        }
        let gone = apns.server.register(name: "gone", topic: APNsFixture.topic)
        #expect(apns.server.setState(.unregistered, token: gone, since: 1_700_000_000_123))
        let others = apns.server.register(name: "phone", topic: "com.example.other")
        let setUp = try Program(at: Checkout.folder.appending(path: "Scripts/setup-python").path).run()
        try #require(setUp.status == 0, "\(setUp.errors)")
        var arguments = [
            Checkout.folder.appending(path: "Tests/Tools/Clients/aioapns-client.py").path,
            apns.folder.appending("APNs/address.json").path, APNsFixture.topic, "200",
        ]
        arguments += [apns.token, gone, others, String(repeating: "0", count: 64)]
        let result = try Program(at: setUp.trimmed).run(arguments)
        #expect(result.status == 0, "\(result.errors)")
        let objects = result.objects
        #expect(objects.count == 205)
        #expect(objects.prefix(202).allSatisfy { $0["status"] as? String == "200" && $0["same"] as? Bool == true })
        let last = objects.suffix(3)
        #expect(last.map { $0["reason"] as? String } == ["Unregistered", "DeviceTokenNotForTopic", "BadDeviceToken"])
        #expect(last.map { $0["status"] as? String } == ["410", "400", "400"])
        #expect(last.first?["timestamp"] as? Int == 1_700_000_000_123)
        await apns.server.stop()
    }

    @Test("a full push from Clients/Python fits through aioapns only if six bytes are reserved for it")
    func sealedInPython() async throws {
        let apns = try await RunningAPNs()
        let setUp = try Program(at: Checkout.folder.appending(path: "Scripts/setup-python").path).run()
        try #require(setUp.status == 0, "\(setUp.errors)")
        let result = try Program(at: setUp.trimmed).run(
            Checkout.folder.appending(path: "Tests/Tools/Clients/aioapns-sealed.py").path,
            apns.folder.appending("APNs/address.json").path, APNsFixture.topic, apns.token)
        #expect(result.status == 0, "\(result.errors)")
        let objects = result.objects
        #expect(objects.map { $0["bytes"] as? Int } == [4_089, 4_096])
        #expect(objects.map { $0["status"] as? String } == ["200", "413"])
        #expect(objects.map { $0["reason"] as? String } == [nil, "PayloadTooLarge"])
        #expect(objects.first?["same"] as? Bool == true)
        await apns.server.stop()
    }
}
