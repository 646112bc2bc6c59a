import Foundation
import Glibc
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
    @Test("listens, counts what devices post, and shows it by reason, day and device")
    func wholeWay() async throws {
        let fixture = try await SendingFixture()
        for name in ["alice-phone", "bob-phone", "carol-phone"] { try fixture.device(name) }
        let (listener, port) = try await listen(fixture)
        defer { listener.kill() }
        try postSome(fixture, to: "http://127.0.0.1:\(port)/r")
        Glibc.kill(listener.identifier, SIGTERM)
        #expect(listener.wait() == .exited(0))
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
            text.output.contains("hint: receipts are refused, rejected: they are forged, or `receipts listen` lacks"))
        #expect(text.output.contains("`sealedpush doctor`"))

        let object = try #require(try fixture.run(["receipts", "show", "--days", "7", "--json"]).objects.first)
        #expect(object["devices"] as? Int == 2)
        #expect(object["failingDevicesByReason"] as? [String: Int] == ["unknown-recipient": 1])
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

    /// `receipts listen` in a process that may open so many files, and its port.
    private func listen(_ fixture: SendingFixture, fileLimit: Int = 1_024) async throws -> (ChildProcess, port: Int) {
        let output = fixture.folder.appending("listening")
        try Data().write(to: output)
        let program = Program("sealedpush").executable.path
        let words = "receipts listen --from newsroom --port 0 --json --keyring Keys"
        let listener = try Program(at: "/bin/sh", in: fixture.folder.url).start(
            ["-c", "ulimit -n \(fileLimit); exec '\(program)' \(words)"], output: FileHandle(forWritingTo: output))
        for _ in 0..<12_000 {
            let object = (try? JSONSerialization.jsonObject(with: Data(contentsOf: output))) as? [String: Any]
            if let port = object?["port"] as? Int { return (listener, port) }
            try await Task.sleep(for: .milliseconds(10))
        }
        listener.kill()
        throw POSIXError(.ETIMEDOUT)
    }

    @Test("listens to fewer at once where it may open few files: the last ones are closed, the first ones kept")
    func fewFiles() async throws {
        let fixture = try await SendingFixture()
        let (listener, port) = try await listen(fixture, fileLimit: 200)
        defer { listener.kill() }
        let result = try Program(at: "/usr/bin/python3").run("-c", Self.crowd, String(port))
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.hasPrefix("first closed: "), "\(result.output)")
        let first = Int(result.output.dropFirst(14).trimmingCharacters(in: .whitespacesAndNewlines))
        #expect(first == 136)
    }

    private static let crowd = """
        import select, socket, sys
        held = [socket.create_connection(("127.0.0.1", int(sys.argv[1])), 60) for _ in range(250)]
        closed, _, _ = select.select(held, [], [], 60)
        print("first closed:", min(held.index(one) for one in closed))
        """

    @Test("listens on with new keys after a rotation and a revocation, without a restart")
    func rereads() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("alice-phone")
        let (listener, port) = try await listen(fixture)
        defer { listener.kill() }
        let url = "http://127.0.0.1:\(port)/r"
        let old = ReceivedReceipts(try fixture.keyring.senderKey(named: "newsroom"))
        #expect(try post(old.bytes("a", at: .now()), to: url, in: fixture.folder) == "204")

        // A new key, which is in use once the old one is revoked.
        #expect(try fixture.run(["keys", "rotate", "newsroom", "--keyring", "Keys"]).status == 0)
        Glibc.kill(listener.identifier, SIGUSR1)
        let keys = try fixture.keyring.senderKeys(named: "newsroom", retiredWithin: 0)
        #expect(keys.count == 2)
        let inUse = try fixture.keyring.sender(named: "newsroom")
        let new = ReceivedReceipts(try #require(keys.first { $0.sender != inUse }))
        try await eventually("the new key is taken") {
            try post(new.bytes("a", at: .now()), to: url, in: fixture.folder) == "204"
        }
        #expect(try post(old.bytes("a", at: .now()), to: url, in: fixture.folder) == "204")
        let oldKey = inUse.keyID.description
        let revoked = try fixture.run(["keys", "revoke", "newsroom", "--key", oldKey, "--yes", "--keyring", "Keys"])
        #expect(revoked.status == 0, "\(revoked.errors)")
        Glibc.kill(listener.identifier, SIGUSR1)
        try await eventually("the old key is taken no more") {
            try post(old.bytes("a", at: .now()), to: url, in: fixture.folder) == "400"
        }
        #expect(try post(new.bytes("a", at: .now()), to: url, in: fixture.folder) == "204")
        // Keys that can't be read change nothing.
        try FileManager.default.moveItem(at: fixture.folder.appending("Keys"), to: fixture.folder.appending("Away"))
        Glibc.kill(listener.identifier, SIGUSR1)
        #expect(try post(new.bytes("a", at: .now()), to: url, in: fixture.folder) == "204")
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
            (["http://push.example.com/"], "an https URL of at most 256 bytes"), ([url, "--anonymous"], "--anonymous"),
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
        #expect(
            taken.errors.hasSuffix(
                "sealedpush: 192.0.2.1 port 0: can't listen there: Cannot assign requested address\n"),
            "\(taken.errors)")
    }

    private func post(_ body: [UInt8], to url: String, in folder: TemporaryFolder) throws -> String {
        let file = folder.appending("receipt")
        try Data(body).write(to: file)
        return try Program(at: "/usr/bin/curl").run(
            "-s", "-o", "/dev/null", "-w", "%{http_code}", "--data-binary", "@\(file.path)", url
        ).output
    }
}
