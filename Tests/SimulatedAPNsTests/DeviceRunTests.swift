import Foundation
import Glibc
import PushCore
import PushSender
import PushService
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushSimulator
@testable import SimulatedAPNs

@Suite("Simulated devices that stay on", .serialized, .blocking) struct DeviceRunTests {
    /// Records a receiver's events, and acknowledges notifications if it should.
    private final class Told: Sendable {
        let events = Locked<[DeviceReceiver.Event]>([])

        var alerts: [String] {
            events.withLock { $0 }.compactMap { event in
                guard case .arrived(let arrival) = event else { return nil }
                let object =
                    try? JSONSerialization.jsonObject(with: Data(arrival.notification.payload)) as? [String: Any]
                return (object?["aps"] as? [String: Any])?["alert"] as? String
            }
        }

        var arrivals: [DeviceReceiver.Arrival] {
            events.withLock { $0 }.compactMap { if case .arrived(let arrival) = $0 { arrival } else { nil } }
        }

        var onlineCount: Int {
            events.withLock { $0 }.count { if case .online = $0 { true } else { false } }
        }
    }

    private func alert(_ text: String) -> String { #"{"aps":{"alert":"\#(text)"}}"# }

    @Test("a device receives pushes, goes offline, catches up when it's back, and survives the server's restart")
    func life() async throws {
        let apns = try await RunningAPNs()
        let told = Told()
        let receiver = DeviceReceiver(
            folder: apns.folder.appending("APNs"), topic: APNsFixture.topic, names: ["phone"]
        ) { event in told.events.withLock { $0.append(event) } }
        async let running: Void = receiver.run()
        try await eventually("the device is online") { told.onlineCount == 1 }
        let client = try await WireClient(apns.address)
        #expect(await apns.send(client, body: alert("one")) == 200)
        try await eventually("the first push is shown") { told.alerts == ["one"] }
        for arrival in told.arrivals { arrival.acknowledge() }

        receiver.setOnline(false)
        let status = { apns.server.deviceCounts }
        try await eventually("the device is offline, and nothing is unacknowledged") {
            status().online == 0 && status().unacknowledged == 0
        }
        #expect(await apns.send(client, body: alert("two")) == 200)
        #expect(await apns.send(client, body: alert("three")) == 200)
        receiver.setOnline(true)
        try await eventually("the third push is shown") { told.alerts == ["one", "three"] }

        // It wasn't acknowledged, so it arrives again, from the next server, too.
        await apns.server.stop()
        let second = try await RunningAPNs(in: apns.folder)
        try await eventually("the push is shown again") { told.alerts == ["one", "three", "three"] }
        told.arrivals.last?.acknowledge()
        try await eventually("nothing is unacknowledged") { second.server.deviceCounts.unacknowledged == 0 }
        receiver.stop()
        await running
        await second.server.stop()
    }

    @Test("device-simulator apns and run show pushes from curl, even after being offline, and Ctrl-C ends both")
    func commands() async throws {
        let device = try Device()
        let folder = device.folder
        func start(_ name: String, _ arguments: [String]) throws -> ChildProcess {
            let output = folder.appending(name)
            try Data().write(to: output)
            return try Program("device-simulator").start(arguments, output: FileHandle(forWritingTo: output))
        }
        func objects(_ name: String) throws -> [[String: Any]] {
            let text = String(decoding: try Data(contentsOf: folder.appending(name)), as: UTF8.self)
            return text.split(separator: "\n").compactMap {
                (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any]
            }
        }
        let server = try start(
            "server.jsonl", ["apns", "--folder", folder.appending("APNs").path, "--seed", "7", "--json"])
        defer { server.kill() }
        try await eventually("the server is running") { try !objects("server.jsonl").isEmpty }
        let address = try LocalAPNsAddress(inFolder: folder.appending("APNs"))
        #expect(address.seed == 7)
        for socket in ["control.sock", "devices.sock"] {
            let path = folder.appending("APNs/\(socket)").path
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode.map { $0 & 0o077 } == 0, "others can't connect to \(socket)")
        }
        let phone = try start(
            "phone.jsonl",
            [
                "run", "--device", "phone", "--apns", folder.appending("APNs").path, "--topic", "com.example.app",
                "--keyring", folder.appending("Keys").path, "--trust", "newsroom", "--state",
                folder.appending("State").path, "--json",
            ])
        defer { phone.kill() }
        try await eventually("the phone is online") { try !objects("phone.jsonl").isEmpty }
        let token = try #require(try objects("phone.jsonl").first?["token"] as? String)

        func push(_ body: String) throws -> String {
            let payload = try device.seal(Content(title: "Nina", body: body))
            return try Program(at: "/usr/bin/curl").run(
                "--silent", "--http2", "--cacert", address.root, "--header",
                "authorization: \(try RunningAPNs.authorization(address))", "--header", "apns-topic: com.example.app",
                "--header", "apns-push-type: alert", "--header", "apns-id: \(payload.apnsID)", "--header",
                "apns-collapse-id: \(payload.collapseID)", "--data-binary",
                "@\(try device.file(payload))", "--write-out", "%{http_code}",
                "https://localhost:\(address.port)/3/device/\(token)"
            ).output
        }
        func bodies() throws -> [String] { try objects("phone.jsonl").compactMap { $0["body"] as? String } }
        #expect(try push("first") == "200")
        // The server's view decides, because the phone shows before it acknowledges, and is gone before the server notices.
        let control = ControlClient(address)
        func devices(_ name: String) throws -> Int? { try control.ask("GET", "/status")["devices", name] as? Int }
        try await eventually("the first push is shown") { try bodies() == ["first"] }
        try await eventually("nothing is unacknowledged") { try devices("unacknowledged") == 0 }
        Glibc.kill(phone.identifier, SIGUSR1)
        try await eventually("it is offline") { try objects("phone.jsonl").last?["event"] as? String == "offline" }
        try await eventually("the server notices") { try devices("online") == 0 }
        #expect(try push("second") == "200")
        #expect(try push("third") == "200")
        Glibc.kill(phone.identifier, SIGUSR2)
        try await eventually("the third push is shown") { try bodies() == ["first", "third"] }
        let outcomes = try objects("phone.jsonl").compactMap { $0["outcome"] as? String }
        #expect(outcomes == ["opened", "opened"])
        Glibc.kill(phone.identifier, SIGINT)
        #expect(phone.wait() == .exited(0))
        let status = try Program(at: "/usr/bin/curl").run(
            "--silent", "--unix-socket", address.control, "http://localhost/status")
        #expect(status.output.contains(#""accepted":3"#))
        Glibc.kill(server.identifier, SIGINT)
        #expect(server.wait() == .exited(0))
    }
}
