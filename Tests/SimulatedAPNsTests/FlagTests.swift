import Crypto
import Foundation
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import SimulatedAPNs

@Suite("Each option of device-simulator apns", .serialized, .blocking)
struct FlagTests {
    @Test("apns --page serves a page at the address that it prints, and there is no page without it")
    func page() async throws {
        let apns = try await RunningCommand("--page", "127.0.0.1:0")
        let printed = try apns.text.firstMatch(of: /page {6}(http:\/\/127\.0\.0\.1:[0-9]+\/[0-9a-f]{32}\/)/)
        let client = try await WireClient(apns.address)
        #expect(await apns.send(client, path: "/3/device/" + String(repeating: "0", count: 64)) == 400)
        let shown = try Program(at: "/usr/bin/curl").run(
            "-qs", "--noproxy", "*", String(try #require(printed).1))
        #expect(shown.output.contains("APNs: a push for an unknown device: BadDeviceToken"))
        apns.stop()
        let without = try await RunningCommand()
        let text = try without.text
        #expect(!text.contains("page"))
        without.stop()
    }

    @Test("apns --faults, --seed, --port, --environment, and --log take effect") func settings() async throws {
        let port = LoopbackServer.freePort()
        let apns = try await RunningCommand(
            "--faults", #"{"serverErrors": 1}"#, "--seed", "7", "--port", "\(port)", "--environment", "sandbox",
            "--log", "payloads")
        #expect(apns.address.port == port)
        #expect(apns.address.seed == 7)
        #expect(apns.address.environment == .sandbox)
        let client = try await WireClient(apns.address)
        #expect(await apns.send(client) == 500)
        #expect(try apns.control.ask("PUT", "/faults", "{}").status == 200)
        let body = #"{"aps":{"alert":"x"},"e":"sealed"}"#
        let stream = client.send(apns.headers(), body: body)
        let seen = await client.wait { $0.ended.contains(stream) }
        #expect(seen.status[stream] == 200)
        #expect(seen.uniqueIDs[stream] != nil, "the sandbox adds its own ID")
        apns.stop()
        let log = try LogFile.lines(apns.folder.appending("APNs/log.jsonl"))
        #expect(log.contains { $0["payload"] as? String == body })
    }

    @Test("the log has payloads only on request, and there is no file if it's off", arguments: APNsLogDetail.allCases)
    func log(_ detail: APNsLogDetail) async throws {
        let apns = try await RunningAPNs { $0.log = detail }
        let client = try await WireClient(apns.address)
        let body = #"{"aps":{"alert":"x"},"e":"sealed"}"#
        #expect(await apns.send(client, body: body) == 200)
        await apns.server.stop()
        let file = apns.folder.appending("APNs/log.jsonl")
        #expect(FileManager.default.fileExists(atPath: file.path) == (detail != .off))
        guard detail != .off else { return }
        let request = try #require(try LogFile.lines(file).first { $0["event"] as? String == "request" })
        #expect(request["bytes"] as? Int == body.utf8.count)
        #expect(request["payload"] as? String == (detail == .payloads ? body : nil))
    }

    @Test(
        "apns --key accepts a private provider key that only its owner can read, and any public key")
    func key() async throws {
        let folder = try TemporaryFolder()
        let (key, p8) = AcceptedProviderKey.make()
        let (other, otherP8) = AcceptedProviderKey.make()
        let files = [try folder.write(p8, to: "own.p8"), try folder.write(other.publicKey, to: "public.pem")]
        chmod(files[1], 0o644)
        func given(_ key: AcceptedProviderKey, _ file: String) -> String { "\(key.keyID),\(key.teamID),\(file)" }
        let apns = try await RunningCommand("--key", given(key, files[0]), "--key", given(other, files[1]), in: folder)
        for (key, p8) in [(key, p8), (other, otherP8)] {
            let authorization = try ProviderTokenMaker(key: key, secret: .init(pemRepresentation: p8)).authorization(
                issued: Int64(Date().timeIntervalSince1970))
            let client = try await WireClient(apns.address)
            let stream = client.send(apns.headers(authorization: authorization), body: #"{"aps":{"alert":"x"}}"#)
            #expect(await client.wait { $0.ended.contains(stream) }.status[stream] == 200)
        }
        let client = try await WireClient(apns.address)
        #expect(await apns.send(client) == 200, "the folder's own key is valid, too")
        apns.stop()
        chmod(files[0], 0o644)
        let again = ["apns", "--folder", folder.appending("Other").path, "--key"]
        #expect(try Program("device-simulator").run(again + [given(key, files[0])]).status == 77)
        let text = try folder.write("no key", to: "text.pem")
        #expect(try Program("device-simulator").run(again + [given(key, text)]).status == 65)
        #expect(!FileManager.default.fileExists(atPath: folder.appending("Other").path))
    }

    @Test("apns --json prints one object, plain output has the same facts, and Ctrl-C ends it with GOAWAY")
    func output() async throws {
        let apns = try await RunningCommand("--json")
        #expect(try JSONDecoder().decode(LocalAPNsAddress.self, from: Data(try apns.text.utf8)) == apns.address)
        apns.stop()
        let plain = try await RunningCommand(in: apns.folder)
        #expect(try plain.text.contains("https://127.0.0.1:\(plain.address.port)"))
        #expect(try plain.text.contains("curl --unix-socket \(plain.address.control) http://localhost/status"))
        let client = try await WireClient(plain.address)
        #expect(await plain.send(client) == 200)
        plain.stop()
        #expect(await client.wait { $0.goAway != nil }.goAway == #"{"reason":"Shutdown"}"#)
    }

    @Test(
        "apns refuses invalid options with status 64",
        arguments: [
            ["--faults", #"{"resets":1.5}"#], ["--faults", #"{"lost":1}"#], ["--faults", "soon"],
            ["--faults", #"{"latencyMillisecondsMinimum":40}"#],
            ["--faults", #"{"tooManyRequests":0.6,"serverErrors":0.6}"#], ["--faults", #"{"goAwayEvery":-1}"#],
            ["--environment", "moon"], ["--log", "loud"], ["--port", "65536"], ["--page", "0.0.0.0:0"],
            ["--key", "ID,TEAM"],
        ])
    func mistakes(_ flags: [String]) throws {
        let folder = try TemporaryFolder()
        let result = try Program("device-simulator").run(["apns", "--folder", folder.appending("APNs").path] + flags)
        #expect(result.status == 64)
        #expect(!FileManager.default.fileExists(atPath: folder.appending("APNs").path))
    }
}
