import Foundation
import PushCore
import PushKeyring
import PushSender
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

@Suite("The commands for receipts", .blocking) struct ReceiptsTests {
    private func listen(_ fixture: SendingFixture) async throws -> (ServedCommand, url: String) {
        let served = try await ServedCommand.start(fixture, ["--listen", "own.sock", "--phones", "127.0.0.1:0"])
        let port = try #require((served.place["phones"] as? [String: Any])?["port"] as? Int)
        return (served, "http://127.0.0.1:\(port)/v1/receipts")
    }

    private func post(_ body: [UInt8], to url: String, in folder: TemporaryFolder) throws -> String {
        let file = folder.appending("receipt")
        try Data(body).write(to: file)
        return try Program(at: "/usr/bin/curl").run(
            "-s", "-o", "/dev/null", "-w", "%{http_code}", "--data-binary", "@\(file.path)", url
        ).output
    }

    @Test("outbox status counts the receipts that devices post, by reason and device")
    func wholeWay() async throws {
        let fixture = try await SendingFixture()
        for name in ["alice-phone", "bob-phone", "carol-phone"] { try fixture.device(name) }
        #expect(try !fixture.run(["outbox", "status"]).output.contains("receipts"), "no receipt has arrived yet")
        let (served, url) = try await listen(fixture)
        let receipts = ReceivedReceipts(try fixture.keyring.senderKey(named: "newsroom"))
        let recipient = try fixture.keyring.recipient(named: "alice-phone").recipient
        let request = receipts.key.request(recipient, to: try #require(ReceiptAddress(parsing: url)))
        let one = receipts.bytes(request, failures: [.unknownRecipient: 12], at: .now())
        // One of a device, twice; one of an unknown device; and an invalid one.
        for (body, status) in [
            (one, "204"), (one, "204"), (receipts.bytes("somebody", at: .now()), "204"),
            ([UInt8](repeating: 1, count: 128), "400"),
        ] { #expect(try post(body, to: url, in: fixture.folder) == status) }
        #expect(served.stop() == .exited(0))

        let status = ["outbox", "status", "--from", "newsroom", "--keyring", "Keys"]
        let text = try fixture.run(status)
        for line in [
            "receipts  from 2 of 3 devices, in 30 days; 1 had failures\n",
            "  shown   2 of 0 that APNs accepted; 100% within 1 s, 100% within 5 s (some",
            "  failed  12 unknown-recipient\n",
            "  devices 1 unknown-recipient\n", "  receipts refused: 1 rejected\n",
            "hint: unknown-recipient, on one device: ", "`sealedpush doctor`",
            "hint: receipts are refused, rejected: they are forged, or requested by a sender other",
            "alice-phone  shown 1, failed to open 12, last ", "bob-phone  no receipt\n", "carol-phone  no receipt\n",
        ] { #expect(text.output.contains(line), "\(line) \(text.output)\(text.errors)") }

        let objects = try fixture.run(status + ["--json"]).objects
        let report = try #require(objects.first?["receipts"] as? [String: Any])
        #expect(report["devices"] as? Int == 2 && (report["days"] as? [Any])?.count == 1)
        #expect(report["failingDevicesByReason"] as? [String: Int] == ["unknown-recipient": 1])
        #expect((report["total"] as? [String: Any])?["shown"] as? Int == 2)
        #expect((report["hints"] as? [Any])?.count == 2 && objects.count == 4)
    }

    @Test("serve accepts receipts under new keys after a rotation and a revocation, without a restart")
    func rereads() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("alice-phone")
        let (served, url) = try await listen(fixture)
        let old = ReceivedReceipts(try fixture.keyring.senderKey(named: "newsroom"))
        #expect(try post(old.bytes("a", at: .now()), to: url, in: fixture.folder) == "204")

        // A new key, which is in use only after it's confirmed.
        #expect(try fixture.run(["keys", "rotate", "newsroom", "--keyring", "Keys"]).status == 0)
        served.signal()
        let inUse = try fixture.keyring.sender(named: "newsroom")
        let keys = try fixture.keyring.senderKeys(named: "newsroom", retiredWithin: 0)
        let new = ReceivedReceipts(try #require(keys.first { $0.sender != inUse }))
        try await eventually("the new key is accepted") {
            try post(new.bytes("a", at: .now()), to: url, in: fixture.folder) == "204"
        }
        #expect(try post(old.bytes("a", at: .now()), to: url, in: fixture.folder) == "204")
        for words in ["rotate newsroom --confirm", "revoke newsroom --key \(inUse.keyID) --yes"] {
            let done = try fixture.run("keys \(words) --keyring Keys".split(separator: " ").map(String.init))
            #expect(done.status == 0, "\(done.errors)")
        }
        served.signal()
        try await eventually("the old key is refused") {
            try post(old.bytes("a", at: .now()), to: url, in: fixture.folder) == "400"
        }
        #expect(try post(new.bytes("a", at: .now()), to: url, in: fixture.folder) == "204")
        #expect(served.stop() == .exited(0))
    }

    @Test("messages sealed with --receipts ask for receipts") func asked() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("alice-phone")
        let url = "https://push.example.com/receipts"
        let to = ["--topic", SendingFixture.topic, "--keyring", "Keys"]
        let seal = ["seal", fixture.content, "--from", "newsroom", "--to", "alice-phone"] + to + ["--receipts"]
        let payload = try fixture.run(seal + [url])
        let open = ["open", "-", "--device", "alice-phone", "--trust", "newsroom"] + to
        #expect(try fixture.run(open, input: payload.output).output.contains(url), "\(payload.errors)")
        for (words, message) in [
            (["http://push.example.com/"], "https, or http on this machine"), ([url, "--anonymous"], "--anonymous"),
        ] {
            let refused = try fixture.run(seal + words)
            #expect(refused.status == 64 && refused.errors.contains(message))
        }
    }
}
