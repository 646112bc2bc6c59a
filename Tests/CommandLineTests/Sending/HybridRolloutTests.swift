import Foundation
import Glibc
import PushKeyring
import PushSimulator
import SealedPush
import SimulatedAPNs
import TestPrograms
import TestSupport
import Testing

@Suite("A phone that becomes hybrid while messages flow", .blocking) struct HybridRolloutTests {
    enum Store: CaseIterable { case file, database }

    /// Pushes that wait in the outbox when the key changes are sent under the old key, and later ones under the new key.
    @Test("loses none and shows none twice, and the wire's suite changes once", arguments: Store.allCases)
    func rollout(_ store: Store) async throws {
        let fixture = try await SendingFixture { $0.log = .payloads }
        let database = store == .file ? nil : try await PostgresServer.shared.value.database()
        defer { withExtendedLifetime(database) {} }
        let place = ["--outbox", database?.address ?? "outbox.sqlite"]
        let listen = ["--listen", "own.sock", "--phones", "127.0.0.1:0", "--apns", "APNs"]
        var served = try await ServedCommand.start(fixture, place + listen)
        var sentCount = 0
        func send() throws -> [String: Any]? {
            sentCount += 1
            let answer = try served.ask(
                "/v1/messages", #"{"user":"alice","content":{"alert":{"body":"message \#(sentCount)"}}}"#)
            #expect(answer.status == "202", "\(answer.body) \(served.errors)")
            return try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any]
        }

        // The app's current version.
        let phone = try RunningPhone(fixture, served, "classical")
        try await eventually("the phone is enrolled") { try phone.has("enrolled") }
        for _ in 1...5 { _ = try send() }
        try await eventually("the first are shown") { try phone.bodies().count == 5 }
        try await eventually("they are in the log") { try Self.suites(fixture).count == 5 }
        #expect(try Self.suites(fixture) == [UInt8](repeating: 1, count: 5))
        // The app is updated while APNs accepts no pushes.
        var faults = APNsFaults()
        faults.unavailable = 1
        fixture.apns.faults = faults
        for _ in 1...3 { _ = try send() }
        phone.end()
        let new = try RunningPhone(fixture, served, "hybrid", ["--hybrid"])
        try await eventually("the phone is enrolled again") { try new.has("enrolled") }
        for _ in 1...3 { _ = try send() }
        fixture.apns.faults = APNsFaults()
        try await eventually("all are shown") { try (phone.bodies() + new.bodies()).count == sentCount }
        try await eventually("all are in the log") { try Self.suites(fixture).count >= sentCount }
        let sent = try Self.suites(fixture)
        #expect(sent == [UInt8](repeating: 1, count: 8) + [3, 3, 3], "\(sent)")

        // The classical key has retired, so the server may require hybrid keys.
        #expect(served.stop() == .exited(0), "\(served.errors)")
        served = try await ServedCommand.start(fixture, place + listen + ["--require-hybrid"], as: "2")
        for _ in 1...5 { #expect(try send()?["enqueued"] as? Int == 1) }
        try await eventually("the last are shown") { try (phone.bodies() + new.bodies()).count == sentCount }
        try await eventually("they are in the log") { try Self.suites(fixture).count >= sentCount }
        #expect(try Self.suites(fixture).dropFirst(sent.count).allSatisfy { $0 == 3 })

        // A phone with an old app is skipped and reported.
        try fixture.device("old-phone", enrolled: false)
        let token = fixture.apns.register(name: "old-phone", topic: SendingFixture.topic)
        let enrolled = try fixture.run(
            ["device", "enroll", "old-phone", "--user", "alice", "--token", token, "--keyring", "Keys"] + place)
        #expect(enrolled.status == 0, "\(enrolled.errors)")
        let answer = try send()
        #expect(answer?["enqueued"] as? Int == 1 && answer?["skipped"] as? [String: Int] == ["not-hybrid": 1])
        #expect(answer?["notHybrid"] as? [String] == ["old-phone"])
        let sealed = try served.ask("/v1/seal", #"{"device":"old-phone","content":{"alert":{"body":"b"}}}"#)
        #expect(sealed.status == "409" && sealed.body.contains(#""code":"not-hybrid""#), "\(sealed.body)")
        try await eventually("it is shown on the other") { try (phone.bodies() + new.bodies()).count == sentCount }
        let command = try fixture.run(
            fixture.sendArguments(["--device", "old-phone", "--queue-only", "--require-hybrid"], apns: false) + place)
        #expect(command.status == 65 && command.output.contains("skipped: 1 not-hybrid"), "\(command.output)")
        #expect(command.output.contains("Not hybrid: old-phone."), "\(command.output)")

        #expect(served.stop() == .exited(0), "\(served.errors)")
        new.end()
        let bodies = try (phone.bodies() + new.bodies()).sorted()
        #expect(bodies == (1...sentCount).map { "message \($0)" }.sorted())
        #expect(try (phone.shown() + new.shown()).allSatisfy { $0["outcome"] as? String == "opened" })
        let keys = try SimulatedDevice(container: fixture.folder.appending("Phone")).rotation.active
        #expect(keys.map(\.key.isHybrid) == [true], "the app made another key after the hybrid one")
    }

    /// Returns the first byte of each envelope that the local APNs accepted, in order.
    private static func suites(_ fixture: SendingFixture) throws -> [UInt8] {
        let log = try Checkout.text(fixture.folder.appending("APNs/log.jsonl"))
        return try log.split(separator: "\n").compactMap { line in
            // The last line may be incomplete.
            let entry = (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any]
            guard entry?["event"] as? String == "request", entry?["status"] as? Int == 200 else { return nil }
            return try SendingFixture.envelope(entry?["payload"]).bytes[0]
        }
    }
}

/// A process that simulates Alice's phone and its app.
private struct RunningPhone {
    private let process: ChildProcess
    private let output: URL

    init(_ fixture: SendingFixture, _ served: ServedCommand, _ name: String, _ more: [String] = []) throws {
        let port = try #require((served.place["phones"] as? [String: Any])?["port"] as? Int)
        let answer = try served.ask("/v1/logins", #"{"user":"alice"}"#).body
        let login = try #require(
            try (JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any])?["token"] as? String)
        output = fixture.folder.appending("phone-\(name)")
        try Data().write(to: output)
        let sender = try fixture.keyring.senderKey(named: "newsroom").sender.description
        process = try Program("device-simulator", in: fixture.folder.url).start(
            [
                "run", "--device", "phone", "--topic", SendingFixture.topic, "--trust", sender, "--keyring", "None",
                "--state", "Phone", "--apns", "APNs", "--server", "http://127.0.0.1:\(port)", "--login", login,
                "--json",
            ] + more, output: FileHandle(forWritingTo: output))
    }

    private func events() throws -> [[String: Any]] {
        try Checkout.text(output).split(separator: "\n").compactMap {
            (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any]
        }
    }

    func has(_ event: String) throws -> Bool { try events().contains { $0["event"] as? String == event } }

    func shown() throws -> [[String: Any]] { try events().filter { $0["event"] as? String == "notification" } }

    /// Returns the texts of new notifications, without those that replace an earlier copy.
    func bodies() throws -> [String] {
        try shown().filter { $0["replaced"] as? Bool == false }.compactMap { $0["body"] as? String }
    }

    func end() {
        Glibc.kill(process.identifier, SIGINT)
        #expect(process.wait() == .exited(0))
    }
}
