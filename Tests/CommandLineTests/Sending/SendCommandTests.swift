import Foundation
import PushSimulator
import SealedPush
import SimulatedAPNs
import TestPrograms
import TestSupport
import Testing

@Suite("sealedpush send, work, and outbox", .blocking) struct SendCommandTests {
    @Test("a message can be sent to a device, to a user's devices, and to everyone, and its outcome is reported")
    func audiences() async throws {
        let fixture = try await SendingFixture()
        for (name, user) in [("a1", "alice"), ("a2", "alice"), ("b1", "bob")] { try fixture.device(name, user: user) }
        for (audience, count) in [(["--device", "a1"], 1), (["--user", "alice"], 2), (["--all"], 3)] {
            let result = try fixture.run(fixture.sendArguments(audience + ["--json"]))
            #expect(result.status == 0, "\(result.errors)")
            let object = try #require(result.objects.first)
            #expect(object["enqueued"] as? Int == count && object["accepted"] as? Int == count)
            #expect(object["waiting"] as? Int == 0)
        }
        #expect(fixture.apns.deviceCounts.waiting == 3, "each device holds the newest")
        let text = try fixture.send("--all")
        #expect(text.output.contains("Sealed for 3 devices.") && text.output.contains("Accepted by APNs: 3"))
        #expect(try fixture.send("--all", "--id", "offer-1").status == 0)
        let again = try fixture.send("--all", "--id", "offer-1", "--json").objects.first
        #expect(again?["enqueued"] as? Int == 0 && again?["alreadyEnqueued"] as? Int == 3)
        for other in [["--user", "carol"], ["--device", "c1"], ["--user", "alice", "--id", "offer-1"]] {
            #expect(try fixture.run(fixture.sendArguments(other)).status == 65, "\(other)")
        }
        #expect(try fixture.status()["outcomes"] as? [String: Int] == ["accepted": 12])
    }

    @Test("`work` delivers enqueued pushes; faults delay them, but none are lost") func work() async throws {
        let fixture = try await SendingFixture {
            // A lost response takes 30 seconds to time out.
            $0.faults.lostResponses = Thoroughness.isThorough ? 0.2 : 0
            $0.faults.resets = 0.2
            $0.faults.unavailable = 0.2
        }
        for number in 1...10 { try fixture.device("d\(number)") }
        for _ in 1...5 {
            #expect(try fixture.send("--all", "--queue-only", apns: false).output == "Sealed for 10 devices.\n")
        }
        #expect(try fixture.status()["waiting"] as? Int == 50)
        let result = try fixture.run(["work", "--apns", "APNs", "--until-empty", "--json"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.objects.first?["accepted"] as? Int == 50)
        #expect((result.objects.first?["deferred"] as? [String: Int])?.isEmpty == false)
        #expect(try fixture.status()["waiting"] as? Int == 0)
    }

    @Test(
        "a refused token affects only its own push, is listed, and can be retried; a removed app isn't an error"
    )
    func refused() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("good")
        // Registered in an earlier second than the push is sent: within one second, it counts as registered again.
        let gone = try fixture.device("gone", registered: Timestamp.now().advanced(bySeconds: -60))
        #expect(fixture.apns.setState(.unregistered, token: gone))
        let first = try fixture.send("--all", "--json")
        #expect(first.status == 0 && first.objects.first?["dropped"] as? [String: Int] == ["Unregistered": 1])
        #expect(try fixture.run(["device", "list"]).output.contains("no token: Unregistered"))
        try fixture.device("bad", enrolled: false)
        try fixture.run(["device", "enroll", "bad", "--token", "abcd", "--keyring", "Keys"])
        let result = try fixture.send("--all", "--json")
        #expect(result.status == 65)
        #expect(result.objects.first?["accepted"] as? Int == 1)
        #expect(result.objects.first?["refused"] as? [String: Int] == ["BadDeviceToken": 1])
        #expect(result.objects.first?["skipped"] as? [String: Int] == ["no-token": 1])
        let listed = try fixture.run(["outbox", "status", "--refused", "--json"]).objects
        #expect(listed.last?["device"] as? String == "bad" && listed.last?["reason"] as? String == "BadDeviceToken")
        #expect(try fixture.run(["device", "list"]).output.contains("APNs refuses the token: BadDeviceToken"))
        #expect(try fixture.run(["outbox", "retry", "--reason", "Other"]).output.hasPrefix("Waiting again: 0."))
        #expect(try fixture.run(["outbox", "retry"]).output.hasPrefix("Waiting again: 1."))
        #expect(try fixture.status()["waiting"] as? Int == 1)
        #expect(try fixture.run(["outbox", "purge", "--everything"]).status == 64, "there was no terminal to ask on")
        let purged = try fixture.run(["outbox", "purge", "--everything", "--yes"])
        #expect(purged.output == "Discarded: 1.\n" && purged.errors.contains("use a new --id"))
        #expect(try fixture.status()["waiting"] as? Int == 0)
    }

    @Test("a key that APNs refuses ends the run with 77 and the reason; all pushes keep waiting")
    func wrongKey() async throws {
        let fixture = try await SendingFixture()
        let other = try await SendingFixture()
        try fixture.device("a1")
        let key = try #require(other.apns.address.key)
        let keyID = try #require(other.apns.address.keyID)
        var arguments = fixture.sendArguments(["--all"]) + ["--provider-key", "\(keyID),ABCDE12345,\(key)"]
        let result = try fixture.run(arguments)
        #expect(result.status == 77)
        #expect(result.errors.contains("403 InvalidProviderToken"), "\(result.errors)")
        #expect(try fixture.status()["waiting"] as? Int == 1)
        let asJSON = try fixture.run(arguments + ["--json"])
        #expect(asJSON.status == 77)
        #expect(asJSON.objects.first?["enqueued"] as? Int == 1, "so that no program sends it again")
        #expect((asJSON.objects.first?["error"] as? String)?.contains("InvalidProviderToken") == true)
        #expect(try fixture.run(["outbox", "purge", "--everything", "--yes"]).status == 0)
        // With another server's root certificate, this server isn't trusted.
        let root = fixture.folder.appending("APNs/root.pem")
        let own = try Data(contentsOf: root)
        try Data(contentsOf: URL(filePath: other.apns.address.root)).write(to: root)
        let distrusted = try fixture.run(arguments)
        try own.write(to: root)
        #expect(distrusted.status == 75)
        #expect(distrusted.output.contains("certificate is not trusted"), "\(distrusted.output)")
        // A file that isn't a key.
        arguments = arguments.map { $0.replacing(key, with: fixture.content) }
        #expect(try fixture.run(arguments).status == 65)
        #expect(try fixture.status()["waiting"] as? Int == 1, "no push is enqueued if the key is unusable")
    }

    @Test("if APNs is unreachable, all pushes keep waiting, with status 75 and the cause")
    func unreachable() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("a1")
        await fixture.apns.stop()
        let result = try fixture.send("--all")
        #expect(result.status == 75)
        #expect(result.output.contains("refused"), "\(result.output)")
        #expect(result.output.contains("Still waiting: 1"))
        #expect(try fixture.send("--all", "--queue-only", "--apns", "APNs").status == 64)
        #expect(try fixture.send("--all", apns: false).status == 64)
        #expect(
            try fixture.run(fixture.sendArguments(["--all", "--queue-only", "--outbox", "no"], apns: false)).status
                == 74)
        #expect(try fixture.run(["work", "--apns", "nowhere"]).status == 74)
        let apns = fixture.folder.appending("APNs").path
        for mode in [0o777, 0o1777, 0o720] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: apns)
            let others = try fixture.run(["work", "--apns", "APNs"])
            #expect(others.status == 77 && others.errors.contains("other users can write to APNs"), "\(others.errors)")
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: apns)
    }

    @Test("if there are no recipients, that is reported with status 65") func nobody() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("a1")
        let other = fixture.sendArguments(["--all", "--queue-only"], apns: false)
            .map { $0 == SendingFixture.topic ? "com.example.other" : $0 }
        let result = try fixture.run(other)
        #expect(result.status == 65)
        #expect(result.errors.contains("has no devices for com.example.other"), "\(result.errors)")
        try fixture.folder.write(#"{"alert":{"body":"Late"},"expires":1000000000}"#, to: "content.json")
        let late = try fixture.send("--all", "--queue-only", apns: false)
        #expect(late.status == 65)
        #expect(late.errors.contains("\"expires\" is in the past; give \(Content.momentRule)"))
        #expect(try fixture.status()["waiting"] as? Int == 0)
    }

    @Test("devices of the other environment are skipped, and the summary reports them") func environments() async throws
    {
        let fixture = try await SendingFixture()
        try fixture.device("a1", enrolled: false)
        try fixture.run(["device", "enroll", "a1", "--token", "abcd", "--environment", "sandbox", "--keyring", "Keys"])
        let result = try fixture.send("--all")
        #expect(result.status == 75)
        #expect(
            result.output.contains(
                "Devices waiting for sandbox: 1. This run was for production; use --environment sandbox."))
        #expect(try fixture.run(["work", "--apns", "APNs", "--environment", "sandbox"]).status == 64)
    }

    @Test(
        "a withdrawal is delivered from an outbox with a key, by `send` and by `serve`, whatever priority was requested"
    )
    func withdrawals() async throws {
        let fixture = try await SendingFixture()
        let token = try fixture.device("phone", enrolled: false)
        let key = ["--outbox-key", "outbox.key"]
        let enrolling = ["device", "enroll", "phone", "--user", "alice", "--token", token, "--keyring", "Keys"]
        #expect(try fixture.run(enrolling + key).status == 0)
        let withdrawal = #"{"withdraw":{"thread":"lunch"}}"#
        let file = try fixture.folder.write(withdrawal, to: "withdrawal.json")
        let sending = ["send", file] + fixture.sendArguments(["--user", "alice", "--json"]).dropFirst(2) + key
        let priorities = ["immediate", "considerate"]
        for priority in priorities {
            let result = try fixture.run(sending + ["--priority", priority])
            #expect(result.status == 0 && result.objects.first?["accepted"] as? Int == 1, "\(result.errors)")
        }
        let served = try await ServedCommand.start(fixture, ["--listen", "own.sock", "--apns", "APNs"] + key)
        for priority in priorities {
            let order = #"{"user":"alice","content":\#(withdrawal),"priority":"\#(priority)"}"#
            let (status, body) = try served.ask("/v1/messages", order)
            let object = try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
            let id = try #require(object?["id"] as? String, "\(status) \(body)")
            var outcome = ""
            try await eventually("APNs has the withdrawal, or it was refused") {
                outcome = try served.ask("/v1/messages/\(id)").body
                return !outcome.contains("waiting")
            }
            #expect(outcome.contains(#""accepted":1"#), "\(outcome)")
        }
        #expect(served.stop() == .exited(0))
    }

    @Test("Ctrl-C waits for requests in transit, and the other pushes keep waiting") func interrupted() async throws {
        let fixture = try await SendingFixture {
            $0.faults.latencyMillisecondsMinimum = 1_500
            $0.faults.latencyMillisecondsMaximum = 1_500
        }
        for number in 1...3 { try fixture.device("d\(number)") }
        for _ in 1...15 { _ = try fixture.send("--all", "--queue-only", apns: false) }
        for end in [SIGINT, SIGTERM] {
            let output = try fixture.folder.write("", to: "output")
            let process = try Program("sealedpush", in: fixture.folder.url).start(
                ["work", "--apns", "APNs", "--json"], output: FileHandle(forWritingTo: URL(filePath: output)))
            defer { process.kill() }
            let before = try fixture.status()["waiting"] as? Int ?? 0
            // On a very busy machine, the first run may deliver all before it's told to stop. Then skip the second.
            guard before >= 2 else { break }
            let deadline = ContinuousClock.now + .seconds(120)
            while try (fixture.status()["waiting"] as? Int ?? 0) > before - 2, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(200))
            }
            // env(1) has replaced itself with the program, in the same process.
            kill(process.identifier, end)
            #expect(process.wait() == .exited(0))
            let text = try String(contentsOfFile: output, encoding: .utf8)
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
            let waiting = try #require(object["waiting"] as? Int)
            #expect(object["accepted"] as? Int == before - waiting)
            #expect(object["deferred"] as? [String: Int] == [:], "no request was cut off")
        }
    }
}
