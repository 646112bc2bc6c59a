import Foundation
import PushKeyring
import SealedPush
import TestPrograms
import TestSupport
import Testing

@Suite("At a terminal", .blocking) struct KeyringPromptTests {
    @Test("a passphrase is asked for, and not shown") func passphrase() throws {
        let copy = try KeyringFixture(sealed: .clear).copy()
        let keyring = ["--keyring", copy.keyring.path]
        let sealed = try PseudoTerminal.run(
            ["keys", "passphrase"] + keyring,
            answers: [("New passphrase: ", "Tr0ub4dor"), ("once more: ", "Tr0ub4dor")])
        #expect(sealed.status == 0, "\(sealed.screen)")
        #expect(sealed.screen.contains("is sealed with a passphrase"))
        #expect(!sealed.screen.contains("Tr0ub4dor"))
        let locked = Keyring(folder: copy.keyring)
        #expect(throws: KeyringError.needsSecret(.passphrase)) { try locked.senderKey(named: "newsroom") }
        let right = try PseudoTerminal.run(
            ["keys", "generate", "sender", "radio"] + keyring, answers: [("Passphrase of the keyring: ", "Tr0ub4dor")])
        #expect(right.status == 0 && right.screen.contains("pushsender1"), "\(right.screen)")
        #expect(!right.screen.contains("Tr0ub4dor"))
        let wrong = try PseudoTerminal.run(
            ["keys", "generate", "sender", "tv"] + keyring, answers: [("Passphrase of the keyring: ", "Tr0ub4do")])
        #expect(wrong.status == 77 && !wrong.screen.contains("Tr0ub"), "\(wrong.screen)")
        #expect(throws: KeyringError.notFound("tv")) { try locked.entry(named: "tv") }
    }

    @Test("a signal at a passphrase prompt ends the program with the terminal as it was", arguments: [3, 28, 15])
    func interrupted(_ what: UInt8) throws {
        let fixture = try KeyringFixture(sealed: .passphrase)
        let copy = try fixture.copy()
        for words in [
            ["trust", "list"], ["keys", "passphrase"],
            ["send", "/dev/null", "--all", "--queue-only", "--from", "newsroom", "--topic", "com.example.app"],
        ] {
            let outbox = words[0] == "send" ? ["--outbox", copy.folder.appending("outbox.sqlite").path] : []
            if !outbox.isEmpty {
                try Data(#"{"alert":{"body":"b"}}"#.utf8).write(to: copy.folder.appending("content.json"))
                let made = try Program("sealedpush").run(
                    ["device", "enroll", "guest", "--token", "ab12", "--key", DevicePrivateKey().recipient.description]
                        + ["--unverified", "--topic", "com.example.app"] + outbox)
                #expect(made.status == 0, "\(made.errors)")
            }
            let arguments = words.map { $0 == "/dev/null" ? copy.folder.appending("content.json").path : $0 } + outbox
            let outcome = try PseudoTerminal.interrupt(
                arguments + ["--keyring", copy.keyring.path], at: "Passphrase of the keyring: ", with: what)
            #expect(outcome.hidIt, "\(words)")
            #expect(outcome.showsAgain, "\(words)")
        }
    }

    @Test("what would stop the program at a passphrase prompt lets it ask anew, and go on") func stopped() throws {
        let fixture = try KeyringFixture(sealed: .passphrase)
        let copy = try fixture.copy()
        // A group without a parent at the terminal is not stopped, and goes on at once.
        let outcome = try PseudoTerminal.run(
            ["trust", "list", "--keyring", copy.keyring.path],
            answers: [
                ("Passphrase of the keyring: ", "half of it\u{1a}"),
                ("Passphrase of the keyring: ", "correct horse battery staple"),
            ])
        #expect(outcome.status == 0 && outcome.screen.contains("com.example.app"), "\(outcome.screen)")
        #expect(!outcome.screen.contains("half of it") && !outcome.screen.contains("horse"))
    }

    @Test("two new passphrases that differ, or an empty one, change nothing") func different() throws {
        let copy = try KeyringFixture(sealed: .clear).copy()
        for (first, second) in [("one passphrase", "another one"), ("", "")] {
            let outcome = try PseudoTerminal.run(
                ["keys", "passphrase", "--keyring", copy.keyring.path],
                answers: [("New passphrase: ", first), ("once more: ", second)])
            #expect(outcome.status == 65, "\(outcome.screen)")
            #expect(try Keyring(folder: copy.keyring).sealKind() == nil)
        }
    }

    @Test(
        "what destroys asks first, and anything but yes changes nothing",
        arguments: [
            "keys erase alice-phone", "keys revoke alice-phone", "keys export newsroom --secret",
            "keys passphrase --clear",
        ])
    func confirmation(_ words: String) throws {
        let command = try #require(KeyringCommand.all.first { $0.description == words + " --yes" })
        let fixture = try KeyringFixture(sealed: words.contains("clear") ? .key : .clear)
        let aftermath = try KeyringAftermath(command, fixture)
        let asking = words.split(separator: " ").map(String.init)
        for answer in ["", "y", "no", "YES", "yes ", "yes yes"] {
            let copy = try fixture.copy()
            let outcome = try PseudoTerminal.run(
                asking + ["--keyring", copy.keyring.path] + fixture.unlocking,
                answers: [("Type yes to go on: ", answer)])
            #expect(outcome.status == 64 && outcome.screen.contains("nothing was changed"), "\(outcome.screen)")
            #expect(!outcome.screen.contains("SECRET-KEY-1"))
            #expect(try aftermath.check(copy.keyring, "answered with \(answer)") == .old)
        }
        let copy = try fixture.copy()
        let asked = asking + ["--keyring", copy.keyring.path] + fixture.unlocking
        let alone = try Program(at: "/usr/bin/setsid").run(["--wait", Program("sealedpush").executable.path] + asked)
        #expect(alone.status == 64 && alone.errors.contains("--yes"))
        let outcome = try PseudoTerminal.run(asked, answers: [("Type yes to go on: ", "yes")])
        #expect(outcome.status == 0, "\(outcome.screen)")
        #expect(try aftermath.check(copy.keyring, "answered with yes") == .new)
    }
}
