import Crypto
import Foundation
import PushSimulator
import TestPrograms
import TestSupport
import TestThreads
import Testing

@testable import SimulatedAPNs

@Suite("Each flag of device-simulator apns", .serialized, .blocking)
struct FlagTests {
    @Test("every flag of the help has a test")
    func complete() throws {
        let help = try Program("device-simulator").run("apns", "--help").output
        let options = help.split(separator: "OPTIONS:").last ?? ""
        let flags = options.split(separator: "\n").filter { $0.hasPrefix("  -") }.compactMap {
            $0.split(whereSeparator: { $0 == " " || $0 == "," }).first { $0.hasPrefix("--") }.map(String.init)
        }
        #expect(flags.count == 31)
        let tests = Checkout.folder.appending(path: "Tests/SimulatedAPNsTests")
        let sources = try ["FlagTests", "FaultFlagTests", "RunningCommand", "DeviceRunTests"].map {
            try String(contentsOf: tests.appending(path: "\($0).swift"), encoding: .utf8)
        }.joined()
        for flag in flags where !["--version", "--help"].contains(flag) {
            let quoted = flag.hasPrefix("--rate-") ? "\"--rate-\\(status)\"" : "\"\(flag)\""
            #expect(sources.contains(quoted), "\(flag)")
        }
    }

    @Test("--stream-limit, --stream-limit-after-error and --successes-until-restored")
    func streams() async throws {
        let apns = try await RunningCommand(
            "--stream-limit", "70", "--stream-limit-after-error", "3", "--successes-until-restored", "2")
        let client = try await WireClient(apns.address)
        #expect(await apns.send(client) == 200)
        #expect(await apns.send(client, token: RunningCommand.bad) == 400)
        #expect(await apns.send(client) == 200)
        #expect(await client.wait { $0.streamLimits.count == 3 }.streamLimits == [1, 70, 3])
        #expect(await apns.send(client) == 200)
        #expect(await client.wait { $0.streamLimits.count == 4 }.streamLimits == [1, 70, 3, 70])
        apns.stop()
    }

    @Test("--error-score-limit and --idle-timeout end a connection, each with its reason")
    func ends() async throws {
        let apns = try await RunningCommand("--error-score-limit", "10", "--idle-timeout", "1.5")
        let client = try await WireClient(apns.address)
        #expect(await apns.send(client, token: RunningCommand.bad) == 400)
        #expect(await client.wait { $0.isClosed }.goAway == #"{"reason":"BadDeviceToken"}"#)
        let idle = try await WireClient(apns.address)
        #expect(await idle.wait { $0.isClosed }.goAway == #"{"reason":"IdleTimeout"}"#)
        apns.stop()
    }

    @Test("--page shows what happens, at the address that it prints, and none without it")
    func page() async throws {
        let apns = try await RunningCommand("--page", "127.0.0.1:0")
        let printed = try apns.text.firstMatch(of: /page {6}(http:\/\/127\.0\.0\.1:[0-9]+\/[0-9a-f]{32}\/)/)
        let address = String(try #require(printed).1)
        let client = try await WireClient(apns.address)
        #expect(await apns.send(client, token: RunningCommand.bad) == 400)
        let events = URL(filePath: try apns.folder.write("", to: "events"))
        let watch = try Program(at: "/usr/bin/curl").start(
            ["-qsN", "--noproxy", "*", "\(address)events"], output: FileHandle(forWritingTo: events))
        try await eventually("the page says it") {
            try String(contentsOf: events, encoding: .utf8).contains(#""rows":[["BadDeviceToken","1"]"#)
        }
        watch.kill()
        _ = watch.wait()
        apns.stop()
        let without = try await RunningCommand()
        let text = try without.text
        #expect(!text.contains("page"))
        without.stop()
    }

    @Test("--device-rate: of many requests for one device within a second, the further ones are too many")
    func deviceRate() async throws {
        let apns = try await RunningCommand("--device-rate", "2")
        let client = try await WireClient(apns.address)
        #expect(await apns.send(client) == 200)
        let streams = (0..<20).map { _ in client.send(apns.headers(), body: RunningCommand.body) }
        let seen = await client.wait { seen in streams.allSatisfy { seen.ended.contains($0) } }
        let statuses = streams.compactMap { seen.status[$0] }
        #expect(statuses.count == 20)
        #expect(Set(statuses).isSubset(of: [200, 429]) && statuses.contains(429))
        apns.stop()
    }

    @Test("--host, --port, --name, --threads; --control-port says what is in its place")
    func listening() async throws {
        let port = try Self.freePort()
        let apns = try await RunningCommand(
            "--host", "127.0.0.2", "--port", "\(port)", "--name", "apns.example.com", "--threads", "3")
        #expect(apns.address.host == "127.0.0.2")
        #expect(apns.address.port == port)
        let gone = try Program("device-simulator").run("apns", "--folder", apns.folder.path, "--control-port", "0")
        #expect(gone.status == 64 && gone.errors.contains("--unix-socket FOLDER/control.sock"))
        let client = try await WireClient(apns.address, name: "apns.example.com")
        #expect(await apns.send(client) == 200)
        let other = try await WireClient(apns.address, name: "other.example.com")
        #expect(await other.wait { $0.isClosed }.isClosed)
        let tasks = "/proc/\(apns.identifier)/task"
        let names = try FileManager.default.contentsOfDirectory(atPath: tasks).map {
            try String(contentsOfFile: "\(tasks)/\($0)/comm", encoding: .utf8)
        }
        #expect(names.count { $0.hasPrefix("NIO-ELT") } == 3, "\(names)")
        apns.stop()
    }

    private static func freePort() throws -> Int {
        let result = try Program(at: "/usr/bin/python3").run([
            "-c", "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])",
        ])
        return try #require(Int(result.trimmed))
    }

    @Test(
        "--environment: the sandbox adds an ID of its own, production does not", arguments: ["sandbox", "production"])
    func environment(_ name: String) async throws {
        let apns = try await RunningCommand("--environment", name)
        #expect(apns.address.environment.rawValue == name)
        let client = try await WireClient(apns.address)
        let stream = client.send(apns.headers(), body: RunningCommand.body)
        let seen = await client.wait { $0.ended.contains(stream) }
        #expect(seen.status[stream] == 200)
        #expect((seen.uniqueIDs[stream] != nil) == (name == "sandbox"))
        apns.stop()
    }

    @Test("--log: off, headers, or the payloads too", arguments: APNsLogDetail.allCases)
    func log(_ detail: APNsLogDetail) async throws {
        let apns = try await RunningCommand("--log", detail.rawValue)
        let client = try await WireClient(apns.address)
        #expect(await apns.send(client) == 200)
        apns.stop()
        let file = apns.folder.appending("APNs/log.jsonl")
        #expect(FileManager.default.fileExists(atPath: file.path) == (detail != .off))
        guard detail != .off else { return }
        let request = try #require(try LogFile.lines(file).first { $0["event"] as? String == "request" })
        #expect((request["fields"] as? [String: Int])?["e"] == 8)
        #expect(request["payload"] as? String == (detail == .payloads ? RunningCommand.body : nil))
    }

    @Test("--lenient: one question, or all", arguments: [nil, "missing-push-type", "all"])
    func lenient(_ question: String?) async throws {
        let apns =
            if let question {
                try await RunningCommand("--lenient", question)
            } else {
                try await RunningCommand()
            }
        let client = try await WireClient(apns.address)
        #expect(await apns.send(client) == 200)
        #expect(await apns.send(client, without: "apns-push-type") == (question == nil ? 400 : 200))
        apns.stop()
    }

    @Test("--any-device: tokens that nobody has are taken")
    func anyDevice() async throws {
        let apns = try await RunningCommand("--any-device")
        let client = try await WireClient(apns.address)
        #expect(await apns.send(client, token: RunningCommand.bad) == 200)
        #expect(try apns.outcome("nowhere") == 1)
        apns.stop()
    }

    @Test("--key: a provider's own key, as a .p8")
    func key() async throws {
        let folder = try TemporaryFolder()
        let (key, p8) = ProviderKey.make()
        let file = try folder.write(p8, to: "own.p8")
        let apns = try await RunningCommand("--key", "\(key.keyID),\(key.teamID),\(file)", in: folder)
        let authorization = try ProviderTokenMaker(key: key, secret: .init(pemRepresentation: p8)).authorization(
            issued: Int64(Date().timeIntervalSince1970))
        let client = try await WireClient(apns.address)
        let stream = client.send(apns.headers(authorization: authorization), body: RunningCommand.body)
        #expect(await client.wait { $0.ended.contains(stream) }.status[stream] == 200)
        apns.stop()
    }

    @Test("--json is one object, and without it the same can be read; POST /shutdown ends it as Ctrl-C does")
    func output() async throws {
        let apns = try await RunningCommand("--json")
        #expect(try JSONDecoder().decode(LocalAPNsAddress.self, from: Data(try apns.text.utf8)) == apns.address)
        apns.stop()
        let plain = try await RunningCommand(in: apns.folder)
        #expect(try plain.text.contains("https://127.0.0.1:\(plain.address.port)"))
        #expect(try plain.text.contains("curl --unix-socket \(plain.address.control) http://localhost/status"))
        let client = try await WireClient(plain.address)
        #expect(await plain.send(client) == 200)
        #expect(try plain.control.ask("POST", "/shutdown").status == 200)
        #expect(await client.wait { $0.goAway != nil }.goAway == #"{"reason":"Shutdown"}"#)
        plain.stop()
    }

    @Test(
        "what makes no sense is refused with status 64",
        arguments: [
            ["--lost", "1.5"], ["--latency", "40-5"], ["--latency", "soon"],
            ["--rate-429", "0.6", "--rate-500", "0.6"],
            ["--goaway-every=-1"], ["--stream-limit", "0"], ["--idle-timeout", "0"], ["--threads", "65"],
            ["--environment", "moon"], ["--lenient", "everything"], ["--log", "loud"], ["--port", "65536"],
            ["--key", "ID,TEAM"],
        ])
    func mistakes(_ flags: [String]) throws {
        let folder = try TemporaryFolder()
        let result = try Program("device-simulator").run(["apns", "--folder", folder.appending("APNs").path] + flags)
        #expect(result.status == 64)
        #expect(!FileManager.default.fileExists(atPath: folder.appending("APNs").path))
    }
}
