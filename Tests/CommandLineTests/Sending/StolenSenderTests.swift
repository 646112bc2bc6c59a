import Foundation
import PushKeyring
import SealedPush
import SimulatedAPNs
import TestPrograms
import TestSupport
import Testing

@Suite("A stolen sender key and an outbox", .blocking)
struct StolenSenderTests {
    @Test("pushes it sealed are counted by status, mentioned when it's revoked, and can be discarded by themselves")
    func wholeWay() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("alice-phone")
        let stolen = try fixture.keyring.sender(named: "newsroom").description
        for _ in 0..<2 { #expect(try fixture.send("--all", "--queue-only", apns: false).status == 0) }
        let empty = fixture.folder.url.appending(path: "empty.sqlite")
        try Data().write(to: empty)
        #expect(try fixture.run(["outbox", "status", "--outbox", "empty.sqlite"]).status == 74)
        #expect(try Data(contentsOf: empty).isEmpty, "it did not become an outbox")

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
        // A repeated revocation again explains how to discard the waiting pushes.
        let again = try fixture.run(["keys", "revoke", "newsroom", "--key", "\(keyID)", "--keyring", "Keys"])
        #expect(again.status == 0 && again.output.hasPrefix("newsroom: \(keyID) is already revoked\n"), "\(again)")
        #expect(again.errors.contains("`\(purge)`"))
        #expect(try fixture.keyring.sender(named: "newsroom").description == new, "the new key is not affected")
        let words = purge.split(separator: " ").dropFirst().map(String.init)
        let purged = try fixture.run(words + ["--yes"])
        #expect(purged.output == "Discarded: 2.\n", "\(purged.errors)")
        #expect(purged.errors.contains("hint: to send any of these messages again, use a new --id"))
        #expect(try !fixture.run(words + ["--yes"]).errors.contains("hint"), "no push was discarded")
        #expect(try fixture.status()["waiting"] as? Int == 1)
        #expect(try fixture.run(["outbox", "purge", "--sender", "newsroom", "--yes"]).status == 64)
        #expect(try fixture.run(["outbox", "purge", "--sender", stolen, "--everything"]).status == 64)
        let shown = try fixture.run(["keys", "list", "--keyring", "Keys"])
        #expect(!shown.output.contains("no longer used to open or seal"), "it is not a device's key: \(shown.output)")
    }

    @Test("a key replaced by a sender set is listed, but reported as not trusted")
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
        #expect(
            late.status == 0 && late.output.contains("but not trusted, because a sender set replaces it"), "\(late)"
        )
    }

    @Test("revoking another's device mentions that an outbox has its own list; revoking your own device doesn't")
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

    @Test("a keyring can't be resealed with its current secret, which would hide a mistake after a theft")
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
