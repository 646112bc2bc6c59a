import Foundation
import SealedPush
import SimulatedAPNs
import TestPrograms
import TestSupport
import Testing

@Suite("sealedpush device", .blocking) struct DeviceCommandTests {
    @Test("enrolls by record, lists without full tokens, updates, and removes") func life() async throws {
        let fixture = try await SendingFixture()
        let token = try fixture.device("alice-phone", user: "alice")
        try fixture.device("bob-phone")
        let listed = try fixture.run(["device", "list", "--json"])
        #expect(listed.objects.map { $0["device"] as? String } == ["alice-phone", "bob-phone"])
        #expect(listed.objects.map { $0["user"] as? String } == ["alice", "bob-phone"])
        #expect(listed.objects.allSatisfy { $0["note"] is NSNull && ($0["keyID"] as? String)?.count == 8 })
        #expect(!listed.output.contains(token) && listed.output.contains(token.prefix(8)))
        #expect(try fixture.run(["device", "list", "--user", "alice", "--json"]).objects.count == 1)
        #expect(
            try fixture.run(["device", "list", "--user", "nobody"]).output.contains(
                "outbox.sqlite has no devices for nobody."))

        let again = try fixture.run([
            "device", "enroll", "alice-phone", "--token", "abcd", "--json", "--keyring", "Keys",
        ])
        #expect(again.objects.first?["new"] as? Int == 0)
        #expect(try fixture.run(["device", "list"]).output.contains("abcd"))
        #expect(try fixture.run(["device", "remove", "alice-phone", "--yes"]).status == 0)
        #expect(try fixture.run(["device", "remove", "alice-phone", "--yes"]).status == 65)
        #expect(try fixture.run(["device", "list", "--json"]).objects.count == 1)
    }

    @Test("keeps a device's other details and waiting pushes when it's enrolled again") func again() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("a1", enrolled: false)
        let enroll = ["device", "enroll", "a1", "--keyring", "Keys", "--json", "--token"]
        try fixture.run(enroll + ["abcd", "--user", "alice", "--environment", "sandbox"])
        #expect(try fixture.send("--all", "--queue-only", apns: false).status == 0)
        #expect(try fixture.run(enroll + ["ef01"]).objects.first?["discarded"] as? Int == 0)
        let device = try fixture.run(["device", "list", "--json"]).objects.first
        #expect(device?["user"] as? String == "alice" && device?["environment"] as? String == "sandbox")
        #expect(device?["token"] as? String == "ef01")
        #expect(try fixture.status()["waiting"] as? Int == 1)
        // If another installation gets the token, the first device loses it.
        try fixture.device("a2", enrolled: false)
        let moved = try fixture.run(["device", "enroll", "a2", "--keyring", "Keys", "--token", "ef01", "--json"])
        #expect(moved.objects.first?["lostToken"] as? [String] == ["a1"])
        #expect(try fixture.run(["device", "list"]).output.contains("no token: moved"))
        #expect(try fixture.run(["device", "enroll", "a1", "--list", "-", "--keyring", "Keys"]).status == 64)
    }

    @Test("refuses another user's device and a different pinned key, and explains what to do")
    func takenOver() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("a1", user: "alice")
        #expect(try fixture.send("--all", "--queue-only", apns: false).status == 0)
        let enroll = ["device", "enroll", "a1", "--token", "abcd", "--keyring", "Keys"]
        let refused = try fixture.run(enroll + ["--user", "mallory"])
        #expect(refused.status == 65)
        #expect(refused.errors.contains("a1 is registered for another user; if another person is logged in"))
        #expect(refused.errors.contains("--moving-from"))
        let list = #"{"device":"a1","token":"abcd","user":"bob","movingFrom":"carol"}"#
        #expect(try fixture.run(["device", "enroll", "--list", "-", "--keyring", "Keys"], input: list).status == 65)
        #expect(try fixture.status()["waiting"] as? Int == 1)
        let moved = try fixture.run(enroll + ["--user", "bob", "--moving-from", "alice", "--json"])
        #expect(moved.objects.first?["discarded"] as? Int == 1, "\(moved.errors)")

        // The app created a new enrollment key.
        try fixture.device("a2", enrolled: false)
        let pinned = try fixture.run(enroll + ["--key", "a2"])
        #expect(pinned.status == 65)
        #expect(pinned.errors.contains("another enrollment key is pinned for a1; "), "\(pinned.errors)")
        #expect(pinned.errors.contains("`sealedpush device remove a1`"))
        #expect(try fixture.run(["device", "remove", "a1", "--yes"]).status == 0)
        #expect(try fixture.run(enroll + ["--key", "a2"]).status == 0)
    }

    @Test("accepts an unverified key only with --unverified, and `send` needs that option, too")
    func unverified() async throws {
        let fixture = try await SendingFixture()
        let recipient = DevicePrivateKey().recipient.description
        let arguments = ["device", "enroll", "guest", "--token", "abcd", "--key", recipient]
        #expect(try fixture.run(arguments + ["--keyring", "Keys"]).status == 64)
        #expect(try fixture.run(arguments + ["--unverified"]).status == 64, "no topic")
        let topic = ["--unverified", "--topic", SendingFixture.topic]
        #expect(try fixture.run(arguments + topic).status == 0)
        #expect(try fixture.run(["device", "list", "--json"]).objects.first?["note"] as? String == "unverified")
        let skipped = try fixture.send("--all", "--queue-only", "--json", apns: false).objects.first
        #expect((skipped?["skipped"] as? [String: Int]) == ["unverified": 1])
        let sent = try fixture.send("--all", "--queue-only", "--json", "--unverified", apns: false).objects.first
        #expect(sent?["enqueued"] as? Int == 1)
    }

    @Test("enrolls all devices of a list or none, and reports the number of a bad line") func list() async throws {
        let fixture = try await SendingFixture()
        for name in ["d1", "d2", "d3"] { try fixture.device(name, enrolled: false) }
        let good = (1...3).map { #"{"device":"d\#($0)","token":"0\#($0)","user":"u\#($0)"}"# }
        for (bad, words) in [
            ("{", "line 3: not one JSON object: column 2: the object is incomplete"),
            (#"{"token":"01"}"#, "line 3: needs"),
            (#"{"device":"d3","token":"xyz"}"#, "line 3: d3: a token must"),
            (#"{"device":"d4","token":"01"}"#, "line 3: there is no key named d4"),
            (#"{"device":"d3","token":"01","environment":"moon"}"#, "line 3: needs"),
            (String(repeating: "[", count: 60_000), "line 3: not one JSON object: column 1"),
            (String(repeating: "x", count: 70_000), "line 3: longer than 65536 bytes"),
            (#"{"device":"d3","token":"01","user":""}"#, "line 3: needs"),
            (#"{"device":"","token":"01"}"#, "line 3: needs"),
        ] {
            let input = (good.prefix(2) + [bad]).joined(separator: "\n")
            let result = try fixture.run(["device", "enroll", "--list", "-", "--keyring", "Keys"], input: input)
            #expect(result.status == 65, "\(bad.prefix(40))")
            #expect(result.errors.contains(words), "\(result.errors)")
            #expect(try fixture.run(["device", "list"]).status == 74, "no outbox was made")
        }
        let input = "\u{feff}" + (good + ["", "\t ", #"{"device":"d1","event":"offline"}"#]).joined(separator: "\r\n")
        try fixture.folder.write(input, to: "list")
        // A short list uses far less memory than the maximum size of a list.
        let result = try Program(at: "/bin/bash", in: fixture.folder.url).run(
            "-c", "ulimit -v 900000; exec \"$0\" device enroll --list list --keyring Keys --json",
            Program("sealedpush").executable.path)
        #expect(result.objects.first?["new"] as? Int == 3, "\(result.errors)")
    }

    @Test("a registry can be moved to another outbox with `device list --full`, whose output file is made private")
    func moved() async throws {
        let fixture = try await SendingFixture()
        for name in ["a1", "a2"] { try fixture.device(name, user: "alice") }
        let list = try Program(at: "/bin/bash", in: fixture.folder.url).run(
            "-c", "umask 022; exec \"$0\" device list --full --json > devices.jsonl",
            Program("sealedpush").executable.path)
        #expect(list.status == 0, "\(list.errors)")
        let file = fixture.folder.appending("devices.jsonl")
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let enroll = ["device", "enroll", "--list", "-", "--outbox", "other.sqlite"]
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(try fixture.run(enroll, input: text).output.contains("Enrolled: 2"))
        let other = try fixture.run(["device", "list", "--full", "--json", "--outbox", "other.sqlite"])
        #expect(other.output == text)
        #expect(other.objects.allSatisfy { ($0["proven"] as? [String])?.count == 1 && $0["record"] is String })
        let cut = try fixture.run(enroll, input: text.replacingOccurrences(of: "\"proven\"", with: "\"other\""))
        #expect(cut.status == 65 && cut.errors.contains("must be given together"), "\(cut.errors)")
    }
}
