import Foundation
import Glibc
import PushCrypto
import PushKeyring
import PushSender
import PushSimulator
import SealedPush
import TestSupport
import Testing

@Suite("sealedpush receipts")
struct ReceiptsCommandTests {
    @Test("listens, counts what devices post, and shows it by reason, day and device")
    func wholeWay() async throws {
        let fixture = try await SendingFixture()
        for name in ["alice-phone", "bob-phone", "carol-phone"] { try fixture.device(name) }
        let sender = try fixture.keyring.senderKey(named: "newsroom")
        let receipts = ReceivedReceipts(sender)
        let recipient = try fixture.keyring.recipient(named: "alice-phone").recipient

        let output = fixture.folder.appending("listening")
        try Data().write(to: output)
        let listener = try Program("sealedpush", in: fixture.folder.url).start(
            ["receipts", "listen", "--from", "newsroom", "--port", "0", "--json", "--keyring", "Keys"],
            output: FileHandle(forWritingTo: output))
        defer { listener.kill() }
        var port: Int?
        for _ in 0..<12_000 where port == nil {
            let object = (try? JSONSerialization.jsonObject(with: Data(contentsOf: output))) as? [String: Any]
            port = object?["port"] as? Int
            if port == nil { try await Task.sleep(for: .milliseconds(10)) }
        }
        let url = "http://127.0.0.1:\(try #require(port))/r"
        let request = receipts.key.request(recipient, to: try #require(ReceiptAddress(parsing: url)))
        let one = receipts.bytes(request, failures: [.unknownRecipient: 12], at: .now())
        #expect(try post(one, to: url, in: fixture.folder) == "204")
        #expect(try post(one, to: url, in: fixture.folder) == "204")
        #expect(try post(receipts.bytes("somebody", at: .now()), to: url, in: fixture.folder) == "204")
        #expect(try post([UInt8](repeating: 1, count: 128), to: url, in: fixture.folder) == "400")
        Glibc.kill(listener.identifier, SIGTERM)
        #expect(listener.wait() == .exited(0))

        let text = try fixture.run(["receipts"])
        #expect(text.status == 0, "\(text.errors)")
        #expect(text.output.contains("devices   2 of 3 registered; 1 had failures\n"), "\(text.output)")
        #expect(text.output.contains("shown     2 of 0 that APNs took; 100 % within 1 s, 100 % within 5 s (not"))
        #expect(text.output.contains("failed    12 unknown-recipient\n"))
        #expect(text.output.contains("refused   1 rejected\n"))
        #expect(text.output.contains("  shown 2; failed: 12 unknown-recipient\n"))
        #expect(text.output.contains("hint: unknown-recipient: "))
        #expect(text.output.contains("`sealedpush keys doctor`"))

        let object = try #require(try fixture.run(["receipts", "show", "--days", "7", "--json"]).objects.first)
        #expect(object["devices"] as? Int == 2)
        let total = try #require(object["total"] as? [String: Any])
        #expect(total["shown"] as? Int == 2)
        #expect(total["failures"] as? [String: Int] == ["unknown-recipient": 12])
        #expect((object["days"] as? [Any])?.count == 1)

        let listed = try fixture.run(
            ["receipts", "show", "--devices", "--from", "newsroom", "--keyring", "Keys"])
        #expect(listed.output.contains("alice-phone  shown 1, did not open 12, last "))
        #expect(listed.output.contains("bob-phone  no receipt\n"))
        #expect(listed.output.contains("carol-phone  no receipt\n"))
    }

    @Test("has nothing to show where no message asked for one, and says so")
    func nothing() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("alice-phone")
        #expect(try fixture.run(["receipts"]).output.hasPrefix("No receipts in 30 days."))
        #expect(try fixture.run(["receipts", "--outbox", "none.sqlite"]).status == 74)
    }

    @Test("are asked for by what is sent with --receipts")
    func asked() async throws {
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
            (["http://push.example.com/"], "--receipts is an https URL"), ([url, "--anonymous"], "--anonymous"),
        ] {
            let refused = try fixture.run(arguments + words)
            #expect(refused.status == 64)
            #expect(refused.errors.contains(message))
        }
    }

    @Test("can't listen where it must not, and says why")
    func unusable() async throws {
        let fixture = try await SendingFixture()
        let listen = ["receipts", "listen", "--keyring", "Keys", "--port"]
        #expect(try fixture.run(listen + ["0"]).status == 64)
        #expect(try fixture.run(listen + ["65536", "--from", "newsroom"]).status == 64)
        #expect(try fixture.run(listen + ["0", "--from", "nobody"]).status == 65)
        let taken = try fixture.run(listen + ["0", "--from", "newsroom", "--host", "192.0.2.1"])
        #expect(taken.status == 74)
        #expect(taken.errors.contains("can't listen there"), "\(taken.errors)")
    }

    private func post(_ body: [UInt8], to url: String, in folder: TemporaryFolder) throws -> String {
        let file = folder.appending("receipt")
        try Data(body).write(to: file)
        return try Program(at: "/usr/bin/curl").run(
            "-s", "-o", "/dev/null", "-w", "%{http_code}", "--data-binary", "@\(file.path)", url
        ).output
    }
}
