import Foundation
import Glibc
import PushKeyring
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

@Suite("At a terminal", .blocking) struct KeyringPromptTests {
    @Test("a passphrase is asked for and not echoed") func passphrase() throws {
        let copy = try KeyringFixture(sealed: .clear).copy()
        let keyring = ["--keyring", copy.keyring.path]
        let sealed = try PseudoTerminal.run(
            ["keys", "passphrase"] + keyring,
            answers: [("New passphrase: ", "Tr0ub4dor"), ("Repeat the passphrase: ", "Tr0ub4dor")])
        #expect(sealed.status == 0, "\(sealed.screen)")
        #expect(sealed.screen.contains("is now sealed with a passphrase"))
        #expect(!sealed.screen.contains("Tr0ub4dor"))
        let locked = Keyring(folder: copy.keyring)
        #expect(throws: KeyringError.needsSecret(.passphrase)) { try locked.senderKey(named: "newsroom") }
        let right = try PseudoTerminal.run(
            ["keys", "generate", "sender", "radio"] + keyring, answers: [("Keyring passphrase: ", "Tr0ub4dor")])
        #expect(right.status == 0 && right.screen.contains("pushsender1"), "\(right.screen)")
        #expect(!right.screen.contains("Tr0ub4dor"))
        let wrong = try PseudoTerminal.run(
            ["keys", "generate", "sender", "tv"] + keyring, answers: [("Keyring passphrase: ", "Tr0ub4do")])
        #expect(wrong.status == 77 && !wrong.screen.contains("Tr0ub"), "\(wrong.screen)")
        #expect(throws: KeyringError.notFound("tv")) { try locked.entry(named: "tv") }
    }

    @Test("a signal at a passphrase prompt ends the program and restores the terminal", arguments: [3, 28, 15])
    func interrupted(_ what: UInt8) throws {
        let fixture = try KeyringFixture(sealed: .passphrase)
        let copy = try fixture.copy()
        let content = try copy.folder.write(#"{"alert":{"body":"b"}}"#, to: "content.json")
        let outbox = ["--outbox", copy.folder.appending("outbox.sqlite").path, "--topic", "com.example.app"]
        let made = try Program("sealedpush").run(
            ["device", "enroll", "guest", "--token", "ab12", "--key", DevicePrivateKey().recipient.description]
                + ["--unverified"] + outbox)
        #expect(made.status == 0, "\(made.errors)")
        for words in [
            ["trust", "list"], ["keys", "passphrase"],
            ["send", content, "--all", "--queue-only", "--from", "newsroom"] + outbox,
        ] {
            let outcome = try PseudoTerminal.run(
                words + ["--keyring", copy.keyring.path], [("Keyring passphrase: ", .signal(what))])
            #expect(outcome.echoes == [false, true], "\(words): \(outcome.screen)")
        }
    }

    @Test(
        "as process 1, a signal at any prompt ends the program, too",
        .enabled(if: Machine.canIsolateProcesses, "The system doesn't allow a process namespace."),
        arguments: [3, 15] as [UInt8])
    func firstProcess(_ what: UInt8) throws {
        let copy = try KeyringFixture(sealed: .passphrase).copy()
        let clear = try KeyringFixture(sealed: .clear).copy()
        for (words, keyring, question) in [
            ("trust list", copy, "Keyring passphrase: "), ("keys passphrase", clear, "New passphrase: "),
            ("keys erase alice-phone", clear, "Type yes to continue: "),
        ] {
            let outcome = try PseudoTerminal.run(
                words.split(separator: " ").map(String.init) + ["--keyring", keyring.keyring.path],
                [(question, .signal(what))], isFirst: true)
            #expect(outcome.status == (what == 3 ? 130 : 143), "\(words): \(outcome.status) \(outcome.screen)")
            #expect(outcome.echoes.last == true, "\(words): \(outcome.screen)")
        }
    }

    @Test("an error is red on a color terminal, unless NO_COLOR is set") func color() throws {
        for (variables, isRed) in [
            (["TERM=xterm"], true), (["TERM=xterm", "NO_COLOR=1"], false), (["TERM=dumb"], false),
        ] {
            let outcome = try PseudoTerminal.run(
                ["keys", "list", "--keyring", "/no/such/folder"], [], variables: ["-u", "NO_COLOR"] + variables)
            #expect(outcome.status == 74 && outcome.screen.contains("there is no keyring"), "\(outcome.screen)")
            #expect(outcome.screen.contains("\u{1b}[1;31msealedpush:\u{1b}[0m ") == isRed, "\(outcome.screen)")
        }
    }

    @Test("a stop at a passphrase prompt makes the program ask again and continue") func stopped() throws {
        let fixture = try KeyringFixture(sealed: .passphrase)
        let copy = try fixture.copy()
        // A process group without a parent at the terminal isn't stopped, and continues immediately.
        let outcome = try PseudoTerminal.run(
            ["trust", "list", "--keyring", copy.keyring.path],
            answers: [
                ("Keyring passphrase: ", "half of it\u{1a}"),
                ("Keyring passphrase: ", "correct horse battery staple"),
            ])
        #expect(outcome.status == 0 && outcome.screen.contains("com.example.app"), "\(outcome.screen)")
        #expect(!outcome.screen.contains("half of it") && !outcome.screen.contains("horse"))
    }

    @Test("two new passphrases that differ, or an empty one, change nothing") func different() throws {
        let copy = try KeyringFixture(sealed: .clear).copy()
        for (first, second) in [("one passphrase", "another one"), ("", "")] {
            let outcome = try PseudoTerminal.run(
                ["keys", "passphrase", "--keyring", copy.keyring.path],
                answers: [("New passphrase: ", first), ("Repeat the passphrase: ", second)])
            #expect(outcome.status == 65, "\(outcome.screen)")
            #expect(try Keyring(folder: copy.keyring).sealKind() == nil)
        }
    }

    @Test(
        "destructive commands ask first, and make no change unless the answer is yes",
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
                answers: [("Type yes to continue: ", answer)])
            #expect(outcome.status == 64 && outcome.screen.contains("nothing was changed"), "\(outcome.screen)")
            #expect(!outcome.screen.contains("SECRET-KEY-1"))
            #expect(try aftermath.check(copy.keyring, "answered with \(answer)") == .old)
        }
        let copy = try fixture.copy()
        let asked = asking + ["--keyring", copy.keyring.path] + fixture.unlocking
        let alone = try Program(at: "/usr/bin/setsid").run(["--wait", Program("sealedpush").executable.path] + asked)
        #expect(alone.status == 64 && alone.errors.contains("--yes"))
        let outcome = try PseudoTerminal.run(asked, answers: [("Type yes to continue: ", "yes")])
        #expect(outcome.status == 0, "\(outcome.screen)")
        #expect(try aftermath.check(copy.keyring, "answered with yes") == .new)
    }
}

/// Runs a program at a separate terminal, and answers its prompts.
enum PseudoTerminal {
    struct Outcome {
        let status: Int32
        /// The terminal's output, including echoed input.
        let screen: String
        /// Whether echo was on at each question, and at the end.
        let echoes: [Bool]
    }

    enum Answer {
        case line(String)
        /// 3 for Ctrl-C, 28 for Ctrl-\\, or otherwise a signal's number.
        case signal(UInt8)
    }

    struct CommandFailure: Error {}

    /// - Parameter answers: the questions and the text to type once each question has appeared.
    static func run(_ arguments: [String], answers: [(question: String, answer: String)]) throws -> Outcome {
        try run(arguments, answers.map { ($0.question, .line($0.answer)) })
    }

    /// - Parameters:
    ///   - variables: environment variables as `NAME=VALUE`.
    ///   - isFirst: whether the program is process 1 of its own namespace.
    static func run(
        _ arguments: [String], _ answers: [(question: String, answer: Answer)], variables: [String] = ["TERM=dumb"],
        isFirst: Bool = false
    ) throws -> Outcome {
        let (master, slave) = try open()
        defer {
            close(master)
            close(slave)
        }
        // A shell's background job ignores Ctrl-C, and its child processes would inherit that.
        let process = try ChildProcess(
            URL(filePath: "/usr/bin/env"),
            arguments: ["--default-signal"] + variables + (isFirst ? ["unshare"] + Machine.isolation : []) + [
                "setsid", "--ctty",
            ]
                + (isFirst ? [] : ["--wait"]) + [Program("sealedpush").executable.path] + arguments, input: slave,
            output: slave, errors: slave,
            environment: Program.withoutNotes)
        var screen: [UInt8] = []
        var seen = 0
        var echoes: [Bool] = []
        let deadline = ContinuousClock.now + .seconds(300)
        while ContinuousClock.now < deadline {
            let isLast = process.hasEnded
            var poll = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
            guard Glibc.poll(&poll, 1, isLast ? 0 : 100) > 0 else {
                if isLast { break }
                continue
            }
            var buffer = [UInt8](repeating: 0, count: 4_096)
            screen += buffer[..<max(0, read(master, &buffer, buffer.count))]
            let text = String(decoding: screen[seen...], as: UTF8.self)
            guard echoes.count < answers.count, text.contains(answers[echoes.count].question) else { continue }
            seen = screen.count
            let answer = answers[echoes.count].answer
            echoes.append(isEchoing(slave))
            try give(answer, to: master)
        }
        process.kill()
        return Outcome(
            status: process.wait().status, screen: String(decoding: screen, as: UTF8.self),
            echoes: echoes + [isEchoing(slave)])
    }

    private static func give(_ answer: Answer, to master: Int32) throws {
        let bytes: [UInt8]
        switch answer {
        case .line(let text): bytes = Array((text + "\n").utf8)
        case .signal(let key) where [3, 28].contains(key): bytes = [key]
        case .signal(let number):
            // Send the signal to the terminal's foreground process group, which is the program's.
            Glibc.kill(-tcgetpgrp(master), Int32(number))
            return
        }
        guard write(master, bytes, bytes.count) == bytes.count else { throw CommandFailure() }
    }

    private static func isEchoing(_ descriptor: Int32) -> Bool {
        var settings = termios()
        return tcgetattr(descriptor, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    private static func open() throws -> (master: Int32, slave: Int32) {
        let master = Glibc.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // ioctl_tty(2): unlock the other side, and get its number.
        var isLocked: Int32 = 0
        var number: Int32 = -1
        guard master >= 0, ioctl(master, 0x4004_5431, &isLocked) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
            throw CommandFailure()
        }
        let slave = Glibc.open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw CommandFailure() }
        return (master, slave)
    }
}
