import Foundation
import PushCore
import PushKeyring
import PushSender
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

@Suite("sealedpush receipts", .blocking)
struct ReceiptsCommandTests {
    @Test("receipts counts what devices post to the phones' listener, by reason, day and device")
    func wholeWay() async throws {
        let fixture = try await SendingFixture()
        for name in ["alice-phone", "bob-phone", "carol-phone"] { try fixture.device(name) }
        let (served, url) = try await listen(fixture)
        defer { served.process.kill() }
        try postSome(fixture, to: url)
        #expect(served.stop() == .exited(0))
        try expectShown(fixture)
    }

    /// One of a device's twice, one of somebody's, and nobody's.
    private func postSome(_ fixture: SendingFixture, to url: String) throws {
        let receipts = ReceivedReceipts(try fixture.keyring.senderKey(named: "newsroom"))
        let recipient = try fixture.keyring.recipient(named: "alice-phone").recipient
        let request = receipts.key.request(recipient, to: try #require(ReceiptAddress(parsing: url)))
        let one = receipts.bytes(request, failures: [.unknownRecipient: 12], at: .now())
        #expect(try post(one, to: url, in: fixture.folder) == "204")
        #expect(try post(one, to: url, in: fixture.folder) == "204")
        #expect(try post(receipts.bytes("somebody", at: .now()), to: url, in: fixture.folder) == "204")
        #expect(try post([UInt8](repeating: 1, count: 128), to: url, in: fixture.folder) == "400")
    }

    private func expectShown(_ fixture: SendingFixture) throws {
        let text = try fixture.run(["receipts"])
        #expect(text.status == 0, "\(text.errors)")
        #expect(text.output.contains("devices   2 of 3 registered; 1 had failures\n"), "\(text.output)")
        #expect(text.output.contains("shown     2 of 0 that APNs took; 100 % within 1 s, 100 % within 5 s (not"))
        #expect(text.output.contains("failed    12 unknown-recipient\n"))
        #expect(text.output.contains("  devices 1 unknown-recipient\n"))
        #expect(text.output.contains("refused   1 rejected\n"))
        #expect(text.output.contains("  shown 2; failed: 12 unknown-recipient\n"))
        #expect(text.output.contains("hint: unknown-recipient, of one device: "))
        #expect(
            text.output.contains("hint: receipts are refused, rejected: they are forged, or another sender"))
        #expect(text.output.contains("`sealedpush doctor`"))

        let object = try #require(try fixture.run(["receipts", "--days", "7", "--json"]).objects.first)
        #expect(object["devices"] as? Int == 2)
        #expect(object["failingDevicesByReason"] as? [String: Int] == ["unknown-recipient": 1])
        let total = try #require(object["total"] as? [String: Any])
        #expect(total["shown"] as? Int == 2)
        #expect(total["failures"] as? [String: Int] == ["unknown-recipient": 12])
        #expect((object["days"] as? [Any])?.count == 1)

        let listed = try fixture.run(["receipts", "--from", "newsroom", "--keyring", "Keys"])
        #expect(listed.output.contains("alice-phone  shown 1, did not open 12, last "))
        #expect(listed.output.contains("bob-phone  no receipt\n"))
        #expect(listed.output.contains("carol-phone  no receipt\n"))
    }

    private func listen(_ fixture: SendingFixture) async throws -> (ServedCommand, url: String) {
        let served = try await ServedCommand.start(fixture, ["--listen", "own.sock", "--phones", "127.0.0.1:0"])
        let port = try #require((served.place["phones"] as? [String: Any])?["port"] as? Int)
        return (served, "http://127.0.0.1:\(port)/v1/receipts")
    }

    @Test("serve takes receipts under new keys after a rotation and a revocation, without a restart")
    func rereads() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("alice-phone")
        let (served, url) = try await listen(fixture)
        defer { served.process.kill() }
        let old = ReceivedReceipts(try fixture.keyring.senderKey(named: "newsroom"))
        #expect(try post(old.bytes("a", at: .now()), to: url, in: fixture.folder) == "204")

        // A new key, which is in use once it is confirmed.
        #expect(try fixture.run(["keys", "rotate", "newsroom", "--keyring", "Keys"]).status == 0)
        served.signal()
        let keys = try fixture.keyring.senderKeys(named: "newsroom", retiredWithin: 0)
        #expect(keys.count == 2)
        let inUse = try fixture.keyring.sender(named: "newsroom")
        let new = ReceivedReceipts(try #require(keys.first { $0.sender != inUse }))
        try await eventually("the new key is taken") {
            try post(new.bytes("a", at: .now()), to: url, in: fixture.folder) == "204"
        }
        #expect(try post(old.bytes("a", at: .now()), to: url, in: fixture.folder) == "204")
        let oldKey = inUse.keyID.description
        #expect(try fixture.run(["keys", "confirm", "newsroom", "--keyring", "Keys"]).status == 0)
        let revoked = try fixture.run(["keys", "revoke", "newsroom", "--key", oldKey, "--yes", "--keyring", "Keys"])
        #expect(revoked.status == 0, "\(revoked.errors)")
        served.signal()
        try await eventually("the old key is taken no more") {
            try post(old.bytes("a", at: .now()), to: url, in: fixture.folder) == "400"
        }
        #expect(try post(new.bytes("a", at: .now()), to: url, in: fixture.folder) == "204")
        // Keys that can't be read change nothing.
        try FileManager.default.moveItem(at: fixture.folder.appending("Keys"), to: fixture.folder.appending("Away"))
        served.signal()
        #expect(try post(new.bytes("a", at: .now()), to: url, in: fixture.folder) == "204")
    }

    @Test("has nothing to show where no message asked for one, and says so") func nothing() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("alice-phone")
        #expect(try fixture.run(["receipts"]).output.hasPrefix("No receipts in 30 days."))
        #expect(try fixture.run(["receipts", "--outbox", "none.sqlite"]).status == 74)
    }

    @Test("are asked for by what is sent with --receipts") func asked() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("alice-phone")
        let url = "https://push.example.com/receipts"
        let arguments =
            ["seal", fixture.content, "--from", "newsroom", "--to", "alice-phone", "--topic", SendingFixture.topic]
            + ["--keyring", "Keys", "--receipts"]
        let payload = try fixture.run(arguments + [url])
        #expect(payload.status == 0, "\(payload.errors)")
        let opened = try fixture.run(
            [
                "open", "-", "--device", "alice-phone", "--topic", SendingFixture.topic, "--keyring", "Keys",
                "--trust", "newsroom",
            ],
            input: payload.output)
        #expect(opened.output.contains(url), "\(opened.errors)")
        for (words, message) in [
            (["http://push.example.com/"], "https, or http on this machine"), ([url, "--anonymous"], "--anonymous"),
        ] {
            let refused = try fixture.run(arguments + words)
            #expect(refused.status == 64)
            #expect(refused.errors.contains(message))
        }
    }

    private func post(_ body: [UInt8], to url: String, in folder: TemporaryFolder) throws -> String {
        let file = folder.appending("receipt")
        try Data(body).write(to: file)
        return try Program(at: "/usr/bin/curl").run(
            "-s", "-o", "/dev/null", "-w", "%{http_code}", "--data-binary", "@\(file.path)", url
        ).output
    }
}
