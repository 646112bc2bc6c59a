import Foundation
import SealedPush
import TestSupport
import Testing

@testable import PushKeyring

@Suite("The doctor of a keyring")
struct ExamineTests {
    private let day = KeptKeys.day

    /// The codes of what is found, each with what it is about.
    private func found(_ kept: KeptKeys, at now: Timestamp? = nil) throws -> Set<String> {
        try found(kept.keyring, at: now)
    }

    private func found(_ keyring: Keyring, at now: Timestamp? = nil) throws -> Set<String> {
        Set(try keyring.examine(at: now ?? day(1)).map { "\($0.code.rawValue) \($0.subject)" })
    }

    @Test("finds nothing where all is well, and changes nothing")
    func healthy() throws {
        let kept = try KeptKeys()
        let before = try kept.snapshot()
        #expect(try found(kept) == [])
        #expect(try found(Keyring(folder: kept.root)) == ["not-checked keyring"])
        let open = try KeptKeys(sealed: false)
        #expect(try found(open) == ["in-the-clear keyring"])
        #expect(try kept.snapshot() == before)
        for url in [kept.folder.appending("nowhere"), kept.file("keyring.txt")] {
            #expect(throws: KeyringError.file(url, message: "there is no such folder")) {
                try Keyring(folder: url).examine()
            }
        }
    }

    @Test("works on a folder that can only be read, where nobody ever made a lock")
    func readOnly() throws {
        let kept = try KeptKeys()
        try FileManager.default.removeItem(at: kept.file("lock"))
        let folders = ["private", "public", ""]
        for folder in folders {
            try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: kept.file(folder).path)
        }
        let before = try kept.snapshot()
        #expect(try found(kept) == [])
        #expect(try kept.snapshot() == before)
        for folder in folders.reversed() {
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: kept.file(folder).path)
        }
    }

    @Test("finds every byte of a sealed keyring's files that is changed")
    func everyByte() throws {
        let kept = try KeptKeys()
        let paths = [
            "private/alice-phone.txt", "private/newsroom.txt", "public/bob-phone.txt", "public/weather.txt",
            "trust.txt", "audit-head.txt", "keyring.txt",
        ]
        var count = 0
        for path in paths {
            let bytes = Array(try Data(contentsOf: kept.file(path)))
            for index in stride(from: 0, to: bytes.count, by: 7 * Thoroughness.stride(5)) {
                var bad = bytes
                bad[index] ^= 1
                try Data(bad).write(to: kept.file(path))
                let findings = try kept.keyring.examine(at: day(1))
                let isNamed = findings.contains {
                    $0.severity == .problem && ($0.subject == .file(path) || $0.subject == .keyring)
                }
                #expect(isNamed, "\(path) \(index)")
                count += 1
            }
            try Data(bytes).write(to: kept.file(path))
        }
        #expect(count > Thoroughness.count(60, thorough: 300))
        #expect(try found(kept) == [])
    }

    @Test("finds a file that is cut anywhere, empty, gone, huge, a folder or a link, and goes on to the others")
    func fileDamage() throws {
        let paths = ["private/alice-phone.txt", "public/weather.txt", "trust.txt", "audit-head.txt", "keyring.txt"]
        for path in paths {
            let kept = try KeptKeys()
            let file = kept.file(path)
            let bytes = try Data(contentsOf: file)
            func expectProblem(_ what: String) throws {
                // A second damage, which must not be lost behind the first.
                try Data("no\n".utf8).write(to: kept.file("public/bob-phone.txt"))
                let findings = try kept.keyring.examine(at: day(1))
                let other = Set(findings.map { "\($0.code.rawValue) \($0.subject)" })
                #expect(other.contains("damaged public/bob-phone.txt"), "\(what)")
                let name = String(path.split(separator: "/").last ?? "").replacing(".txt", with: "")
                #expect(
                    findings.contains {
                        $0.severity == .problem
                            && [path, name, "keyring", "audit.jsonl"].contains($0.subject.description)
                    }, "\(path) \(what): \(other)")
            }
            for count in stride(from: 0, to: bytes.count, by: 41) {
                try bytes.prefix(count).write(to: file)
                try expectProblem("cut to \(count)")
            }
            try Data(count: 300_000).write(to: file)
            try expectProblem("huge")
            try FileManager.default.removeItem(at: file)
            try expectProblem("gone")
            try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "/does/not/exist")
            try expectProblem("a link to nothing")
            try FileManager.default.removeItem(at: file)
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            try expectProblem("a folder")
            try FileManager.default.removeItem(at: file)
            #expect(mkfifo(file.path, 0o600) == 0)
            try expectProblem("a pipe")
        }
    }

    @Test("finds files that were copied, moved, swapped or put back within a sealed keyring")
    func moved() throws {
        let kept = try KeptKeys()
        let copy = kept.file("private/alice2.txt")
        try FileManager.default.copyItem(at: kept.file("private/alice-phone.txt"), to: copy)
        #expect(try found(kept) == ["altered private/alice2.txt"])
        try FileManager.default.removeItem(at: copy)

        let away = kept.file("public/alice-phone.txt")
        try FileManager.default.moveItem(at: kept.file("private/alice-phone.txt"), to: away)
        #expect(try found(kept) == ["altered public/alice-phone.txt"])
        try FileManager.default.copyItem(at: away, to: kept.file("private/alice-phone.txt"))
        #expect(try found(kept) == ["altered public/alice-phone.txt", "double-name alice-phone"])
        try FileManager.default.removeItem(at: away)

        // A file of another keyring.
        let other = try KeptKeys()
        let mine = try Data(contentsOf: kept.file("public/weather.txt"))
        try Data(contentsOf: other.file("public/weather.txt")).write(to: kept.file("public/weather.txt"))
        #expect(try found(kept) == ["altered public/weather.txt"])
        try mine.write(to: kept.file("public/weather.txt"))
        #expect(try found(kept) == [])
    }

    @Test("finds in a keyring in the clear what files can't hide: copies, strangers, lost secrets and lost names")
    func inTheClear() throws {
        let kept = try KeptKeys(sealed: false)
        let clear = "in-the-clear keyring"
        try FileManager.default.copyItem(
            at: kept.file("public/weather.txt"), to: kept.file("public/storm.txt"))
        #expect(try found(kept) == [clear, "double-key storm", "not-in-log storm"])
        try FileManager.default.removeItem(at: kept.file("public/storm.txt"))

        // A stranger's key in a known name's place.
        let file = kept.file("public/weather.txt")
        let text = try Checkout.text(file)
        let stranger = text.replacing(/pushsender1\w+/, with: SenderKey().sender.description)
        try Data(stranger.utf8).write(to: file)
        #expect(try found(kept) == [clear, "not-in-log weather"])
        try Data(text.utf8).write(to: file)

        let own = kept.file("private/newsroom.txt")
        let secretText = try Checkout.text(own)
        try Data(secretText.replacing(/secret: .*\n/, with: "").utf8).write(to: own)
        #expect(try found(kept) == [clear, "damaged private/newsroom.txt"])
        try Data(secretText.utf8).write(to: own)

        try FileManager.default.moveItem(at: own, to: kept.file("public/newsroom.txt"))
        #expect(
            try found(kept) == [clear, "damaged public/newsroom.txt", "stray-secret public/newsroom.txt"])
        try FileManager.default.moveItem(at: kept.file("public/newsroom.txt"), to: own)

        try kept.keyring.rename("weather", to: "wind", at: day(1))
        #expect(try found(kept) == [clear])
        try FileManager.default.removeItem(at: kept.file("public/wind.txt"))
        try FileManager.default.removeItem(at: kept.file("trust.txt"))
        #expect(try found(kept) == [clear, "missing wind", "missing trust.txt"])
    }

    @Test("finds a seal that was taken away, a wrong key, and a key for what is not sealed")
    func seal() throws {
        let kept = try KeptKeys()
        let wrong = Keyring(folder: kept.root, unlocking: .given(.key(KeyringKey())))
        #expect(try found(wrong) == ["wrong-secret keyring"])
        try FileManager.default.removeItem(at: kept.file("keyring.txt"))
        #expect(try found(kept) == ["not-sealed keyring", "seal-missing keyring.txt"])
        #expect(try found(Keyring(folder: kept.root)) == ["seal-missing keyring.txt"])
        let open = try KeptKeys(sealed: false)
        let keyed = Keyring(folder: open.root, unlocking: .given(.key(KeyringKey())))
        #expect(try found(keyed) == ["not-sealed keyring", "in-the-clear keyring"])
        try open.keyring.distrust(.sender(open.keyring.sender(named: "newsroom")), for: KeptKeys.topic, at: day(1))
        // A trust list that says nothing is sealed anew like any other.
        let key = KeyringSecret.key(KeyringKey())
        try open.keyring.seal(with: key, at: day(1))
        #expect(try found(Keyring(folder: open.root, unlocking: .given(key))) == [])
    }

    @Test("finds secrets in the clear where none should be")
    func straySecrets() throws {
        let kept = try KeptKeys()
        let secret = SenderKey().withSecretText { String(decoding: $0, as: UTF8.self) }
        for path in ["newsroom.txt.bak", "private/newsroom.txt~", "public/notes.md", "keyring.key"] {
            try Data("x\n\(secret)\n".utf8).write(to: kept.file(path))
            #expect(try found(kept) == ["stray-secret \(path)"])
            try FileManager.default.removeItem(at: kept.file(path))
        }
        let file = kept.file("public/weather.txt")
        let text = try Checkout.text(file)
        try Data(("# " + secret + "\n" + text).utf8).write(to: file)
        #expect(try found(kept) == ["altered public/weather.txt", "stray-secret public/weather.txt"])
        for finding in try kept.keyring.examine(at: day(1)) {
            #expect(!"\(finding)".contains(secret.suffix(20)))
        }
    }

    @Test("finds what others may read or write")
    func modes() throws {
        let kept = try KeptKeys()
        func with(_ mode: Int, _ path: String) throws -> Set<String> {
            let file = kept.file(path).path
            let before = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] ?? 0o600
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
            defer { try? FileManager.default.setAttributes([.posixPermissions: before], ofItemAtPath: file) }
            return try found(kept)
        }
        #expect(try with(0o640, "private/newsroom.txt") == ["readable-by-others private/newsroom.txt"])
        #expect(try with(0o604, "private/newsroom.txt") == ["readable-by-others private/newsroom.txt"])
        #expect(try with(0o620, "private/newsroom.txt") == ["writable-by-others private/newsroom.txt"])
        #expect(try with(0o755, "private") == ["readable-by-others private"])
        #expect(try with(0o710, "private") == ["readable-by-others private"])
        #expect(
            try with(0o777, "private") == ["readable-by-others private", "writable-by-others private"])
        #expect(try with(0o775, "public") == ["writable-by-others public"])
        #expect(try with(0o777, "") == ["writable-by-others ."])
        #expect(try with(0o666, "public/weather.txt") == ["writable-by-others public/weather.txt"])
        for file in ["keyring.txt", "trust.txt", "audit.jsonl", "audit-head.txt"] {
            #expect(try with(0o664, file) == ["writable-by-others \(file)"])
        }
        for path in ["private/newsroom.txt", "public/weather.txt", "trust.txt", "keyring.txt"] {
            #expect(try with(path.hasPrefix("private") ? 0o600 : 0o644, path) == [])
        }
    }

    @Test("finds files that are no part of a keyring, however many and whatever they are called")
    func unknownFiles() throws {
        let kept = try KeptKeys()
        try Data().write(to: kept.file("README.md"))
        #expect(try found(kept) == [])
        for path in ["notes.txt", "public/x y.txt", "private/.swp", "public/\u{1b}[2Jevil", "private/-x.txt"] {
            try Data("x".utf8).write(to: kept.file(path))
        }
        try FileManager.default.createDirectory(at: kept.file("folder"), withIntermediateDirectories: false)
        let expected = ["notes.txt", "public/x y.txt", "private/.swp", "public/ [2Jevil", "private/-x.txt", "folder"]
        #expect(try found(kept) == Set(expected.map { "unknown-file \($0)" }))
        for index in 0..<200 { try Data().write(to: kept.file("extra-\(index)")) }
        let findings = try kept.keyring.examine(at: day(1))
        #expect(findings.count < 70 && findings.contains(.moreUnknownFiles(count: 152)))
    }

    @Test("finds an unfinished change, what a killed process left, and a missing .gitignore")
    func unfinished() throws {
        let kept = try KeptKeys()
        let change = kept.file("changing")
        try FileManager.default.createDirectory(
            at: change.appending(path: "public"), withIntermediateDirectories: true)
        try FileManager.default.moveItem(
            at: kept.file("public/weather.txt"), to: change.appending(path: "public/weather.txt"))
        let before = try kept.snapshot()
        #expect(try found(kept) == ["unfinished-change changing"])
        // A removal, which is not finished either.
        try Data().write(to: change.appending(path: "public/bob-phone.txt"))
        #expect(try found(kept) == ["unfinished-change changing"])
        try FileManager.default.removeItem(at: change.appending(path: "public/bob-phone.txt"))
        #expect(try kept.snapshot().keys.sorted() == before.keys.sorted())
        try kept.keyring.add(.sender(SenderKey().sender), named: "other", at: day(1))
        #expect(try found(kept) == [])

        try FileManager.default.createDirectory(
            at: kept.file("changing.abc"), withIntermediateDirectories: false)
        try Data().write(to: kept.file("private/tmp.1"))
        try FileManager.default.removeItem(at: kept.file(".gitignore"))
        try FileManager.default.removeItem(at: kept.file("private/.gitignore"))
        #expect(
            try found(kept) == [
                "leftover changing.abc", "leftover private/tmp.1", "not-ignored .gitignore",
                "not-ignored private/.gitignore",
            ])
    }

    @Test("finds a log that was changed, cut, replaced or taken away")
    func log() throws {
        let kept = try KeptKeys()
        let (file, headFile) = (kept.file("audit.jsonl"), kept.file("audit-head.txt"))
        let log = try Data(contentsOf: file)
        let head = try Data(contentsOf: headFile)
        func with(_ log: Data?, _ head: Data?) throws -> Set<String> {
            for (bytes, file) in [(log, file), (head, headFile)] {
                try? FileManager.default.removeItem(at: file)
                try bytes?.write(to: file)
                if bytes != nil {
                    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
                }
            }
            return try found(kept)
        }
        let lines = log.split(separator: UInt8(ascii: "\n"))
        let shorter = Data(lines.dropLast().joined(separator: [UInt8(ascii: "\n")])) + [UInt8(ascii: "\n")]
        #expect(try with(shorter, head) == ["log-cut audit.jsonl"])
        #expect(try with(Data(), head) == ["log-cut audit.jsonl"])
        #expect(try with(nil, head) == ["log-cut audit.jsonl"])
        #expect(try with(log.dropLast(), head) == ["log-broken audit.jsonl"])
        #expect(try with(log.dropLast(30), head) == ["log-broken audit.jsonl"])
        #expect(try with(log + lines[0] + [UInt8(ascii: "\n")], head) == ["log-broken audit.jsonl"])
        let edited = Data(String(decoding: log, as: UTF8.self).replacing("weather", with: "weathex").utf8)
        #expect(try with(edited, head) == ["log-broken audit.jsonl"])
        #expect(try with(log, nil) == ["log-mismatch audit-head.txt"])
        #expect(try with(nil, nil) == ["log-missing audit.jsonl"])
        // One that goes on properly, and is longer than the head says.
        let parsed = try #require(AuditHead(parsing: Array(head)))
        let more = AuditLog.lines(
            [AuditEntry(time: day(1), event: .erased, name: "alice-phone", key: "00000000", command: "x")],
            after: parsed)
        #expect(try with(log + more.bytes, head) == ["log-mismatch audit.jsonl"])
        // Both forged: only the MAC tells.
        #expect(try with(log + more.bytes, Data(more.head.text(under: nil))) == ["altered audit-head.txt"])
        #expect(try with(log, head) == [])
    }

    @Test("tells what is due in the life of keys, at the day it is due")
    func life() throws {
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
        #expect(try found(kept, at: day(137)) == ["none-in-use newsroom"])
        #expect(try found(kept, at: day(0)).contains("ahead-of-clock alice-phone"))
    }

    @Test("tells of records and sender sets that run out, of devices that never answered, and of authorities online")
    func trust() throws {
        let kept = try KeptKeys()
        let keyring = kept.keyring
        let records = { (now: Timestamp) in
            try keyring.examine(at: now).filter { [.recordExpires, .recordExpired].contains($0.code) }.map {
                "\($0.code.rawValue) \($0.subject)"
            }
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
        try keyring.add(.device(Identity().recipient), named: "erin-phone", at: day(0))
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

    @Test("puts problems first, then warnings, then notes")
    func order() throws {
        let kept = try KeptKeys(sealed: false)
        try kept.addEverything()
        try Data("x".utf8).write(to: kept.file("public/weather.txt"))
        try Data("x".utf8).write(to: kept.file("junk"))
        let findings = try kept.keyring.examine(at: day(800))
        #expect(findings.map(\.severity) == findings.map(\.severity).sorted())
        #expect(Set(findings.map(\.severity)) == Set(Finding.Severity.allCases))
    }
}
