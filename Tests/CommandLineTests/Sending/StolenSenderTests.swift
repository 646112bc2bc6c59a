import Foundation
import PushKeyring
import SealedPush
import SimulatedAPNs
import TestPrograms
import TestSupport
import Testing

@Suite("A stolen sender key and an outbox", .blocking)
struct StolenSenderTests {
    @Test("what it has sealed is named where it is revoked, told by status, and thrown away alone")
    func wholeWay() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("alice-phone")
        let stolen = try fixture.keyring.sender(named: "newsroom").description
        for _ in 0..<2 { #expect(try fixture.send("--all", "--queue-only", apns: false).status == 0) }
        let empty = fixture.folder.url.appending(path: "empty.sqlite")
        try Data().write(to: empty)
        #expect(try fixture.run(["outbox", "status", "--outbox", "empty.sqlite"]).status == 74)
        #expect(try Data(contentsOf: empty).isEmpty, "it became no outbox")

        let text = try fixture.run(["outbox", "status", "--keyring", "Keys"])
        let keyID = try fixture.keyring.sender(named: "newsroom").keyID
        #expect(
            text.output.contains("  2 sealed by \(stolen) (\(keyID), newsroom)\n"), "\(text.output) \(text.errors)")
        let revoked = try fixture.run(["keys", "revoke", "newsroom", "--yes", "--keyring", "Keys"])
        let purge = "sealedpush outbox purge --sender \(stolen)"
        #expect(revoked.status == 0 && revoked.errors.contains("`\(purge)`"), "\(revoked.errors)")
        #expect(revoked.errors.contains("kill -HUP PID"))
        let after = try fixture.run(["outbox", "status", "--keyring", "Keys"])
        #expect(after.output.contains("  2 sealed by \(stolen) (\(keyID), newsroom, revoked)\n"), "\(after.output)")

        #expect(try fixture.run(["keys", "rotate", "newsroom", "--keyring", "Keys"]).status == 0)
        #expect(try fixture.send("--all", "--queue-only", apns: false).status == 0)
        let new = try fixture.keyring.sender(named: "newsroom").description
        let senders = try #require(try fixture.status()["senders"] as? [[String: Any]])
        #expect(senders.count == 2 && new != stolen)
        for (sender, count) in [(stolen, 2), (new, 1)] {
            #expect(senders.first { $0["sender"] as? String == sender }?["waiting"] as? Int == count)
        }
        // Asked again, it says again how to throw away what waits.
        let again = try fixture.run(["keys", "revoke", "newsroom", "--key", "\(keyID)", "--keyring", "Keys"])
        #expect(again.status == 0 && again.output.hasPrefix("newsroom: \(keyID) is revoked already\n"), "\(again)")
        #expect(again.errors.contains("`\(purge)`"))
        #expect(try fixture.keyring.sender(named: "newsroom").description == new, "the new key is none of it")
        let words = purge.split(separator: " ").dropFirst().map(String.init)
        let purged = try fixture.run(words + ["--yes"])
        #expect(purged.output == "Thrown away: 2.\n", "\(purged.errors)")
        #expect(purged.errors.contains("hint: enqueue what was meant of it under another --id"))
        #expect(try !fixture.run(words + ["--yes"]).errors.contains("hint"), "nothing was thrown away")
        #expect(try fixture.status()["waiting"] as? Int == 1)
        #expect(try fixture.run(["outbox", "purge", "--sender", "newsroom", "--yes"]).status == 64)
        #expect(try fixture.run(["outbox", "purge", "--sender", stolen, "--everything"]).status == 64)
        let shown = try fixture.run(["keys", "list", "--keyring", "Keys"])
        #expect(!shown.output.contains("neither opens nor is sealed to"), "it is no device's key: \(shown.output)")
    }

    @Test("a key that a sender set has replaced is listed, and not said to be believed")
    func replacedBySet() async throws {
        let folder = try TemporaryFolder()
        let (sender, other, authority) = (SenderPrivateKey().sender, SenderPrivateKey().sender, AuthorityPrivateKey())
        let topic: Topic = "com.example.replaced"
        let now = Timestamp.now()
        let set = try SenderSet(
            of: [other], topic: topic, counter: 1, created: now, expires: now.advanced(bySeconds: 86_400),
            signedBy: authority)
        let words = ["trust", "add", "--topic", topic.description, "--keyring", "Phone"]
        let program = Program("sealedpush", in: folder.url)
        for whom in [authority.authority.description, sender.description, set.description] {
            let added = try program.run(words + [whom])
            #expect(added.status == 0 && added.output.hasSuffix(": trusted for \(topic)\n"), "\(added)")
        }
        let late = try program.run(words + [SenderPrivateKey().sender.description])
        #expect(late.status == 0 && late.output.contains("and not believed: a sender set takes its place"), "\(late)")
    }

    @Test("revoking somebody else's device says that an outbox has a list of its own; revoking one's own does not")
    func deviceOfAnOutbox() throws {
        let folder = try TemporaryFolder()
        let keyring = Keyring(folder: folder.appending("Keys"))
        try keyring.add(.device(DevicePrivateKey().recipient), named: "friend")
        try keyring.generateDevice(named: "own")
        for (name, isTold) in [("friend", true), ("own", false)] {
            let revoked = try Program("sealedpush", in: folder.url).run(
                "keys", "revoke", name, "--yes", "--keyring", "Keys")
            #expect(revoked.status == 0 && revoked.errors.contains("sealedpush device remove") == isTold, "\(revoked)")
        }
    }

    @Test("a keyring is not sealed anew under the secret that it has: after a theft it would look done")
    func sameSecret() throws {
        let folder = try TemporaryFolder()
        let program = Program("sealedpush", in: folder.url)
        func seal(_ words: String) throws -> Program.Result {
            try program.run("keys passphrase \(words) --keyring Keys".split(separator: " ").map(String.init))
        }
        let keyring = Keyring(folder: folder.appending("Keys"))
        try keyring.generateSender(named: "newsroom")
        #expect(try seal("--new-unlock one.key").status == 0)
        let before = try Checkout.text(folder.appending("Keys/keyring.txt"))
        let same = try seal("--new-unlock one.key --unlock one.key")
        #expect(same.status == 65 && same.errors.contains("nothing was changed"), "\(same.errors)")
        #expect(try Checkout.text(folder.appending("Keys/keyring.txt")) == before)
        #expect(try seal("--new-unlock two.key --unlock one.key").status == 0)
    }
}
