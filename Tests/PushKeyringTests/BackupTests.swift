import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushKeyring

@Suite("A backup") struct BackupTests {
    private let kept: KeptKeys
    private let secret = KeyringSecret.key(KeyringKey())
    private let day = KeptKeys.day

    init() throws { kept = try KeptKeys() }

    /// A keyring that doesn't exist yet, with the secret that will seal it.
    private func new(_ name: String, _ secret: KeyringSecret? = nil) -> Keyring {
        Keyring(folder: kept.folder.appending(name), unlocking: .given(secret ?? self.secret))
    }

    @Test("A backup restores every key in use, in a keyring that is sealed under the same key")
    func roundTrip() throws {
        try kept.addEverything()
        let keyring = kept.keyring
        let backup = try keyring.backup(under: secret, at: day(20))
        #expect(try Keyring.backupKind(backup) == .key)
        // Without its own secret, it takes the backup's.
        let made = Keyring(folder: kept.folder.appending("New"))
        let names = try made.restore(backup, with: secret, at: day(20))
        let all = ["alice-phone", "authority", "bob-phone", "carol", "lost-phone", "newsroom", "old-phone", "weather"]
        #expect(names.map(\.description) == all)
        #expect(try made.sealKind() == .key)

        let copy = new("New")
        #expect(try copy.entries().isVerified)
        #expect(try copy.entries().keys.map(\.name) == names)
        for name in names where name != "lost-phone" {
            let (old, now) = (try keyring.entry(named: name), try copy.entry(named: name))
            #expect(now.kind == old.kind && now.created == old.created && now.isOwn == old.isOwn)
            #expect(now.topic == old.topic && now.record?.enrollment == old.record?.enrollment)
            let isKept = { (key: KeyringEntry.Key) in !old.isOwn || key.life.state == .active }
            #expect(now.keys == old.keys.filter(isKept), "\(name)")
        }
        #expect(try copy.entry(named: "alice-phone").keys.count == 2)
        #expect(try copy.trustList() == keyring.trustList())
        #expect(try copy.senderKey(named: "newsroom").sender == keyring.senderKey(named: "newsroom").sender)
        let identities = try copy.deviceKeys(named: "alice-phone").map(\.identity.recipient)
        #expect(try identities == keyring.deviceKeys(named: "alice-phone").map(\.identity.recipient))
        // Keys that bob has proven, and that carol hasn't.
        #expect(
            try copy.recipient(named: "bob-phone", at: day(20)) == keyring.recipient(named: "bob-phone", at: day(20)))
        #expect(throws: KeyringError.unverified("carol")) { try copy.recipient(named: "carol", at: day(20)) }
        #expect(try copy.examine(at: day(20)).filter { $0.severity == .problem } == [])
    }

    @Test("A backup leaves out retired, revoked, and erased keys, with their secrets") func leftOut() throws {
        let open = try KeptKeys(sealed: false)
        try open.addEverything()
        let before = try Keyring.secretTexts(in: open.root)
        let backup = try open.keyring.backup(under: secret, at: day(20))
        let copy = Keyring(folder: kept.folder.appending("Clear"), unlocking: .given(secret))
        try copy.restore(backup, with: secret, at: day(20))
        try copy.seal(with: nil, at: day(20))
        let restored = try Keyring.secretTexts(in: copy.folder)
        #expect(restored.isSubset(of: before))
        // Missing: a retired key of old-phone, and the revoked keys of lost-phone and lost-sender.
        #expect(before.count - restored.count == 3)
        let clear = Keyring(folder: copy.folder)
        #expect(throws: KeyringError.notFound("lost-sender")) { try clear.entry(named: "lost-sender") }
    }

    @Test("A backup keeps the enrollment key of a device whose keys are all revoked, and the device gets a new key")
    func enrollmentAlone() throws {
        try kept.addEverything()
        let enrollment = try #require(try kept.keyring.entry(named: "lost-phone").enrollment)
        let copy = new("New")
        try copy.restore(kept.keyring.backup(under: secret, at: day(20)), with: secret, at: day(20))
        let entry = try copy.entry(named: "lost-phone")
        #expect(entry.isOwn && entry.keys.map(\.life.state) == [.erased] && !entry.keys[0].hasSecret)
        let key = try copy.rotate("lost-phone", at: day(21))
        let record = try #require(try copy.entry(named: "lost-phone").record)
        #expect(record.enrollment == enrollment && record.recipients.map { .device($0) } == [key])
    }

    @Test("A backup never overwrites a keyring") func noOverwriting() throws {
        let backup = try kept.keyring.backup(under: secret, at: day(1))
        let copy = new("New")
        try copy.add(.sender(SenderPrivateKey().sender), named: "other", at: day(1))
        let before = try kept.snapshot(of: copy.folder)
        #expect(throws: KeyringError.self) { try copy.restore(backup, with: secret, at: day(2)) }
        #expect(try kept.snapshot(of: copy.folder) == before)
    }

    @Test("A restored keyring is sealed with its given secret, or with the backup's and a new salt")
    func ownSeal() throws {
        let words = try passphrase("correct horse")
        let backup = try kept.keyring.backup(under: words, at: day(1))
        #expect(try Keyring.backupKind(backup) == .passphrase)
        let copy = new("New", .key(KeyringKey()))
        #expect(throws: KeyringError.backup) { try copy.restore(backup, with: passphrase("correct horsf")) }
        #expect(throws: KeyringError.backup) { try copy.restore(backup, with: secret) }
        try copy.restore(backup, with: words, at: day(1))
        #expect(try copy.sealKind() == .key)
        #expect(try copy.deviceKeys(named: "alice-phone").count == 1)
        let made = Keyring(folder: kept.folder.appending("Made"))
        try made.restore(backup, with: words, at: day(1))
        #expect(try new("Made", words).deviceKeys(named: "alice-phone").count == 1)
        let text = String(decoding: backup, as: UTF8.self)
        let salts = [text, try Checkout.text(made.folder.appending(path: "keyring.txt"))].map {
            $0.firstMatch(of: /salt: (\S+)/)?.output.1
        }
        #expect(salts[0] != nil && salts[1] != nil && salts[0] != salts[1])
    }

    @Test("Every changed bit and every other length of a backup is rejected, and creates no keyring")
    func damage() async throws {
        let backup = try kept.keyring.backup(under: secret, at: day(1))
        let damages = damages(of: backup, bitCount: 150, cutCount: 60) + [backup + [10], backup + backup]
        let copy = new("New")
        for damage in damages {
            await Task.yield()
            #expect(throws: KeyringError.backup) { try copy.restore(damage, with: secret, at: day(2)) }
        }
        #expect(try copy.entries().keys.isEmpty)
        try copy.restore(backup, with: secret, at: day(2))
    }

    @Test("A keyring from an old backup signs records and sets with higher counters than any signed since")
    func counters() throws {
        try kept.addEverything()
        let keyring = kept.keyring
        let backup = try keyring.backup(under: secret, at: day(20))
        let first = try #require(try keyring.entry(named: "alice-phone").record)
        var server = try EnrolledDevice(pinning: first, topic: KeptKeys.topic, at: day(20))
        for round in 0..<5 {
            try keyring.confirm("alice-phone", at: day(21))
            try keyring.rotate("alice-phone", at: day(21))
            try server.accept(#require(try keyring.entry(named: "alice-phone").record), at: day(21 + Int64(round)))
        }
        let sign = { (keyring: Keyring, at: Timestamp) in
            try keyring.signSenderSet(
                of: keyring.activeSenders(named: "newsroom"), topic: KeptKeys.topic, by: "authority",
                lifetime: 86_400, at: at)
        }
        let newest = try [sign(keyring, day(22)), sign(keyring, day(22)), sign(keyring, day(22))][2]

        let copy = new("New")
        try copy.restore(backup, with: secret, at: day(30))
        let record = try #require(try copy.entry(named: "alice-phone").record)
        #expect(record.counter > server.record.counter)
        try server.accept(record, at: day(30))
        try copy.rotate("old-phone", at: day(31))
        let set = try sign(copy, day(30))
        try set.check(pinned: newest.authority, topic: KeptKeys.topic, replacing: newest, at: day(30))
    }

    @Test("A backup is recorded in the audit log, and a missing keyring can't be backed up") func noted() throws {
        _ = try kept.keyring.backup(under: secret, at: day(1))
        #expect(try Checkout.text(kept.file("audit.jsonl")).contains("\"event\":\"backed-up\""))
        let nothing = kept.folder.appending("Nothing")
        #expect(throws: KeyringError.self) { try Keyring(folder: nothing).backup(under: secret, at: day(1)) }
        #expect(!FileManager.default.fileExists(atPath: nothing.path))
    }
}
