import Foundation
import SealedPush
import TestSupport
import Testing

@testable import PushKeyring

@Suite("The doctor of a keyring") struct ExamineTests {
    private let day = KeptKeys.day

    private func found(_ kept: KeptKeys, at now: Timestamp? = nil) throws -> Set<String> {
        try found(kept.keyring, at: now)
    }

    /// The codes of the findings, each with its subject.
    private func found(_ keyring: Keyring, at now: Timestamp? = nil) throws -> Set<String> {
        Set(try keyring.examine(at: now ?? day(1)).map { "\($0.code) \($0.subject)" })
    }

    @Test("The doctor reports nothing for a healthy keyring, and makes no changes") func healthy() throws {
        let kept = try KeptKeys()
        try FileManager.default.removeItem(at: kept.file("lock"))
        let before = try kept.snapshot()
        #expect(try found(kept) == [])
        #expect(try found(Keyring(folder: kept.root)) == ["not-checked keyring.txt"])
        #expect(try kept.snapshot() == before)
        #expect(try found(KeptKeys(sealed: false)) == ["in-the-clear keyring"])
        for url in [kept.folder.appending("nowhere"), kept.file("keyring.txt")] {
            #expect(throws: KeyringError.file(url, message: "there is no such folder")) {
                try Keyring(folder: url).examine()
            }
        }
    }

    @Test("The doctor tells why a keyring is rejected") func refused() throws {
        let kept = try KeptKeys()
        let file = kept.file("keyring.txt")
        let good = try Data(contentsOf: file)
        func refusal() throws -> [String] { try kept.keyring.examine(at: day(1)).map(\.code) }
        let clear = try KeptKeys(sealed: false)
        let edited = String(decoding: good, as: UTF8.self).replacing("name: weather", with: "name: whether")
        for (bytes, code) in [
            (Data(edited.utf8), "altered"), (good.dropLast(40), "damaged"), (Data(), "damaged"),
            (try Data(contentsOf: clear.file("keyring.txt")), "not-sealed"),
        ] {
            try bytes.write(to: file)
            #expect(try refusal() == [code])
        }
        try FileManager.default.removeItem(at: file)
        #expect(mkfifo(file.path, 0o600) == 0)
        #expect(try refusal() == ["unreadable"])
        try FileManager.default.removeItem(at: file)
        try good.write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let other = Keyring(folder: kept.root, unlocking: .given(.key(KeyringKey())))
        #expect(try found(other) == ["wrong-secret keyring.txt"])
        #expect(try found(kept) == [])
    }

    @Test("The doctor reports what others can read or write") func modes() throws {
        let kept = try KeptKeys()
        for (path, mode, codes) in [
            ("keyring.txt", 0o644, ["readable-by-others keyring.txt"]),
            ("keyring.txt", 0o620, ["writable-by-others keyring.txt"]),
            ("audit.jsonl", 0o602, ["writable-by-others audit.jsonl"]), ("", 0o777, ["writable-by-others ."]),
        ] {
            let file = kept.file(path).path
            let right = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] ?? 0
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
            #expect(try found(kept) == Set(codes))
            try FileManager.default.setAttributes([.posixPermissions: right], ofItemAtPath: file)
        }
    }

    @Test("The doctor reports due steps in the life of keys on the day they're due") func life() throws {
        let kept = try KeptKeys()
        let keyring = kept.keyring
        #expect(try found(kept, at: day(90)) == [])
        #expect(try found(kept, at: day(90).advanced(bySeconds: 1)) == ["old alice-phone", "old newsroom"])
        try keyring.rotate("newsroom", at: day(91))
        try keyring.rotate("alice-phone", at: day(91))
        try keyring.confirm("alice-phone", at: day(92))
        #expect(try found(kept, at: day(92)) == [])
        #expect(try found(kept, at: day(123).advanced(bySeconds: -1)) == [])
        #expect(try found(kept, at: day(123)) == ["erasure-due alice-phone"])
        #expect(try found(kept, at: day(136)) == ["erasure-due alice-phone"])
        #expect(
            try found(kept, at: day(137)) == ["erasure-due alice-phone", "unconfirmed newsroom"])
        try keyring.erase("alice-phone", key: keyring.entry(named: "alice-phone").keys[1].key.keyID, at: day(137))
        try keyring.confirm("newsroom", at: day(137))
        #expect(try found(kept, at: day(137)) == [])
        try keyring.revoke("newsroom", key: keyring.sender(named: "newsroom").keyID, at: day(137))
        #expect(try found(kept, at: day(137)) == [])
    }

    @Test("The doctor reports expiring records and sets, devices that never answered, and online authorities")
    func trust() throws {
        let kept = try KeptKeys()
        let keyring = kept.keyring
        let records = { (now: Timestamp) in
            try keyring.examine(at: now).filter { $0.code.hasPrefix("record-") }.map { "\($0.code) \($0.subject)" }
        }
        #expect(try records(day(340)) == [])
        #expect(
            try records(day(341)) == ["record-expires alice-phone", "record-expires bob-phone"])
        #expect(try records(day(400)).count == 2)
        #expect(
            try records(day(401)) == ["record-expired alice-phone", "record-expired bob-phone"])

        let phone = Keyring(folder: kept.folder.appending("Dora"))
        try phone.generateDevice(named: "phone", topic: KeptKeys.topic, at: day(0))
        try keyring.add(#require(try phone.entry(named: "phone").record), named: "dora-phone", at: day(0))
        try keyring.add(.device(DevicePrivateKey().recipient), named: "erin-phone", at: day(0))
        let unproven: Set<String> = ["never-answered dora-phone", "unverified erin-phone"]
        #expect(try found(kept) == unproven)

        let authority = try keyring.generateAuthority(named: "authority", at: day(0))
        let online = unproven.union(["authority-online authority"])
        #expect(try found(kept) == online)
        let set = try keyring.signSenderSet(
            of: [keyring.sender(named: "newsroom")], topic: KeptKeys.topic, by: "authority", lifetime: 80 * 86_400,
            at: day(0))
        try keyring.trust(.authority(authority), for: KeptKeys.topic, at: day(0))
        try keyring.trust(.senderSet(set), for: KeptKeys.topic, at: day(0))
        #expect(try found(kept, at: day(20)) == online)
        #expect(try found(kept, at: day(21)) == online.union(["sender-set-expires com.example.app"]))
        #expect(try found(kept, at: day(81)) == online.union(["sender-set-expired com.example.app"]))
        try keyring.distrust(.authority(authority), for: KeptKeys.topic, at: day(1))
        #expect(try found(kept, at: day(81)) == online)
    }

    @Test("The doctor lists problems first, then warnings, then notes") func order() throws {
        let kept = try KeptKeys(sealed: false)
        try kept.addEverything()
        let findings = try kept.keyring.examine(at: day(800))
        let ranks = findings.map(\.severity.rawValue)
        #expect(ranks == ranks.sorted() && Set(ranks) == [0, 1, 2])
    }
}
