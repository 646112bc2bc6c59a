import Foundation
import PushKeyring
import SealedPush
import SimulatedAPNs
import TestPrograms
import TestSupport
import TestThreads
import Testing

@Suite("A stolen sender key and an outbox", .blocking)
struct StolenSenderTests {
    @Test("what it has sealed is named where it is revoked, told by status, and thrown away alone")
    func wholeWay() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("alice-phone")
        let stolen = try fixture.keyring.sender(named: "newsroom").description
        for _ in 0..<2 { #expect(try fixture.send("--all", "--queue-only", apns: false).status == 0) }
        let missing = try fixture.run([
            "keys", "revoke", "newsroom", "--yes", "--keyring", "Keys", "--outbox", "none.sqlite",
        ])
        #expect(missing.status == 74)
        let empty = fixture.folder.url.appending(path: "empty.sqlite")
        try Data().write(to: empty)
        #expect(try fixture.run(["outbox", "status", "--outbox", "empty.sqlite"]).status == 74)
        #expect(try Data(contentsOf: empty).isEmpty, "it became no outbox")
        #expect(try fixture.keyring.sender(named: "newsroom").description == stolen, "nothing is revoked then")

        let text = try fixture.run(["outbox", "status", "--keyring", "Keys"])
        let keyID = try fixture.keyring.sender(named: "newsroom").keyID
        #expect(
            text.output.contains("  2 sealed by \(stolen) (\(keyID), newsroom)\n"), "\(text.output) \(text.errors)")
        let revoked = try fixture.run([
            "keys", "revoke", "newsroom", "--yes", "--keyring", "Keys", "--outbox", "outbox.sqlite",
        ])
        #expect(revoked.status == 0, "\(revoked.errors)")
        #expect(revoked.output.contains(" has sealed 2 waiting and 0 refused pushes in outbox.sqlite."))
        let purge = "sealedpush outbox purge --sender \(stolen) --outbox outbox.sqlite"
        #expect(revoked.output.contains("  \(purge)\n"), "\(revoked.output)")
        #expect(revoked.errors.contains("kill -USR1 PID"))
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
        let words = purge.split(separator: " ").dropFirst().map(String.init)
        let purged = try fixture.run(words + ["--yes", "--json"])
        #expect(purged.objects.count == 1 && purged.objects.first?["purged"] as? Int == 2, "\(purged.errors)")
        #expect(purged.errors.contains("hint: enqueue what was meant of it under another --id"))
        #expect(try !fixture.run(words + ["--yes"]).errors.contains("hint"), "nothing was thrown away")
        #expect(try fixture.status()["waiting"] as? Int == 1)
        #expect(try fixture.run(["outbox", "purge", "--sender", "newsroom", "--yes"]).status == 64)
        #expect(try fixture.run(["outbox", "purge", "--sender", stolen, "--everything"]).status == 64)
        await fixture.apns.stop()
    }
}
