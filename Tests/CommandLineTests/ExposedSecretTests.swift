import Foundation
import PushKeyring
import PushOutbox
import TestPrograms
import TestSupport
import Testing

@Suite("Secret files", .blocking) struct ExposedSecretTests {
    private let fixture: KeyringFixture
    private let copy: KeyringCopy

    init() throws {
        fixture = try KeyringFixture(sealed: .key)
        copy = try fixture.copy()
    }

    private func run(_ words: String, _ more: [String]) throws -> Program.Result {
        let arguments = words.split(separator: " ").map(String.init) + more + ["--keyring", copy.keyring.path]
        return try Program("sealedpush").run(arguments)
    }

    @Test("that others may read, change, or replace are refused", arguments: Opening.possible)
    func refused(_ opening: Opening) throws {
        let key = ["--unlock", fixture.folder.appending("key").path]
        for (words, option, name) in [
            ("trust list", "--unlock", "key"), ("trust list", "--unlock", "passphrase"),
            ("doctor", "--unlock", "key"), ("keys passphrase", "--new-unlock", "new-key"),
            ("keys passphrase", "--new-unlock", "passphrase"),
            ("keys backup \(fixture.folder.appending("b").path)", "--backup-secret", "new-key"),
            ("keys import radio", "--secret-file", "secret"),
        ] {
            // In a folder of its own, so that the other secrets stay safe.
            let folder = try TemporaryFolder()
            mkdir(folder.appending("own").path, 0o700)
            let path = try folder.write(fixture.text(name) + "\n", to: "own/\(name)")
            try opening.open(path)
            let result = try run(words, [option, path] + (option == "--unlock" ? [] : key))
            #expect(result.status == 77, "\(words) \(option): \(result.status) \(result.errors)")
            #expect(result.errors.contains("\(path) contains a secret, but \(opening.words)"), "\(result.errors)")
        }
    }

    @Test(
        "of a server are refused, too: the APNs key, tokens, the TLS key, and the outbox's key",
        arguments: Opening.possible)
    func ofServer(_ opening: Opening) throws {
        let folder = try TemporaryFolder()
        try Keyring(folder: folder.appending("Keys")).generateSender(named: "newsroom")
        for path in ["above", "above/own"] { mkdir(folder.appending(path).path, 0o700) }
        try opening.open(folder.write("x\n", to: "above/own/secret"))
        let program = Program("sealedpush", in: folder.url)
        _ = try Outbox(at: folder.appending("outbox.sqlite").path(percentEncoded: false))
        let serve = "serve --from newsroom --topic com.example.app --listen 127.0.0.1:0"
        for words in [
            "work --provider-key ABCDE12345,FGHIJ67890,above/own/secret --until-empty",
            "serve --from newsroom --topic com.example.app --provider-key ABCDE12345,FGHIJ67890,above/own/secret",
            "\(serve) --token-file above/own/secret", "\(serve) --notify-tokens above/own/secret",
            "\(serve) --tls above/own/secret,above/own/secret",
            "outbox status --outbox-key above/own/secret", "device list --outbox-key above/own/secret",
        ] {
            let result = try program.run(words.split(separator: " ").map(String.init))
            #expect(result.status == 77, "\(words): \(result.status) \(result.errors)")
            #expect(
                result.errors.contains("above/own/secret contains a secret, but \(opening.words)"), "\(result.errors)")
        }
    }

    @Test(
        "that don't exist are named by their option, and the text isn't repeated: it may be the secret",
        arguments: [
            "trust list --unlock", "keys backup b --unlock KEY --backup-secret", "keys import radio --secret-file",
            "keys passphrase --unlock KEY --new-unlock", "outbox status --outbox-key",
            "work --until-empty --provider-key ABCDE12345,FGHIJ67890,",
            "serve --from newsroom --topic a.b --token-file", "serve --from newsroom --topic a.b --notify-tokens",
            "serve --from newsroom --topic a.b --listen 127.0.0.1:0 --tls x,",
        ],
        ["hunter2", "/hunter2", "hunter2/x", String(repeating: "hunter2", count: 60)])
    func mistyped(_ words: String, _ secret: String) throws {
        let folder = try TemporaryFolder()
        // A new key's file may have any name, and is then created.
        if words.hasSuffix("-secret") || words.hasSuffix("--new-unlock"), secret == "hunter2" || secret == "/hunter2" {
            return
        }
        _ = try Outbox(at: folder.appending("outbox.sqlite").path(percentEncoded: false))
        var arguments = words.replacing("KEY", with: fixture.folder.appending("key").path).split(separator: " ")
            .map(String.init)
        let option = arguments.last { $0.hasPrefix("--") }!
        if words.hasSuffix(",") { arguments[arguments.count - 1] += secret } else { arguments.append(secret) }
        let unlock = words.hasPrefix("serve") ? ["--unlock", fixture.folder.appending("key").path] : []
        let keyring = words.hasPrefix("outbox") || words.hasPrefix("work") ? [] : ["--keyring", copy.keyring.path]
        let result = try Program("sealedpush", in: folder.url).run(arguments + unlock + keyring)
        #expect(result.status == 74 && !result.errors.contains("hunter2"), "\(result)")
        #expect(result.errors.contains("sealedpush: \(option): "), "\(result.errors)")
        #expect(result.errors.contains("it takes a file's path, never the secret itself"), "\(result.errors)")
    }

    @Test("that a failed command created are removed, unless something was sealed with them") func leftovers() throws {
        let folder = try TemporaryFolder()
        let key = fixture.folder.appending("key").path
        let new = folder.appending("new").path
        // A folder is in the place of the audit log, so no change is possible.
        let log = copy.keyring.appending(path: "audit.jsonl").path
        unlink(log)
        mkdir(log, 0o700)
        let sealed = try run("keys passphrase", ["--new-unlock", new, "--unlock", key])
        #expect(sealed.status == 74 && sealed.errors.contains("created"), "\(sealed)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        let backup = try run(
            "keys backup \(folder.appending("none/b").path)", ["--backup-secret", new, "--unlock", key])
        #expect(backup.status == 74 && backup.errors.contains("created"), "\(backup)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        rmdir(log)
        #expect(try run("keys passphrase", ["--new-unlock", new, "--unlock", key]).status == 0)
        #expect(try run("trust list", ["--unlock", new]).status == 0)
    }

    @Test("can be pipes, and sealing with a short passphrase prints a warning")
    func pipes() throws {
        let key = fixture.folder.appending("key").path
        let piped = try Program(at: "/bin/bash").run(
            "-c", "\"$0\" trust list --unlock <(cat \"$1\") --keyring \"$2\"", Program("sealedpush").executable.path,
            key, copy.keyring.path)
        #expect(piped.status == 0, "\(piped.errors)")
        let short = try fixture.folder.write("x\n", to: "short")
        let sealed = try run("keys passphrase", ["--new-unlock", short, "--unlock", key])
        #expect(sealed.status == 0 && sealed.errors.contains("a passphrase of 1 bytes can be guessed"))
        let backup = fixture.folder.appending("short.backup").path
        let made = try run("keys backup \(backup)", ["--backup-secret", short, "--unlock", short])
        #expect(made.status == 0 && made.errors.contains("can be guessed"), "\(made.errors)")
        let long = try run(
            "keys passphrase",
            ["--new-unlock", fixture.folder.appending("passphrase").path, "--unlock", short])
        #expect(long.status == 0 && !long.errors.contains("can be guessed"), "\(long.errors)")
    }

    @Test(
        "in an unsealed keyring are refused by every command that uses them, whether the file or its folder is open",
        arguments: Opening.possible + [.folder(0o1777), .folder(0o775), .folder(0o757)])
    func keyring(_ opening: Opening) throws {
        let folder = try TemporaryFolder()
        let program = Program("sealedpush", in: folder.url)
        let (clear, locked) = (try KeyringFixture(sealed: .clear), try KeyringFixture(sealed: .key))
        func open(_ keyring: URL) throws { try opening.open(keyring.appending(path: "keyring.txt").path) }
        let unsealed = try clear.copy()
        try open(unsealed.keyring)
        try folder.write(#"{"alert":{"body":"b"}}"#, to: "c")
        let topic = "--topic com.example.app"
        let changing = try KeyringCommand.all.filter({ $0.seals.contains(.clear) }).map({ try $0.words(clear) })
        for words in changing
            + [
                "keys show newsroom", "keys export newsroom", "trust list",
                "seal c --from newsroom --to alice-phone \(topic)", "open c --device alice-phone \(topic)",
                "doctor c --device alice-phone \(topic)", "serve --from newsroom \(topic) --listen s.sock",
            ].map({ $0.split(separator: " ").map(String.init) })
        {
            let result = try program.run(words + ["--keyring", unsealed.keyring.path])
            #expect(result.status == 77, "\(words): \(result)")
            #expect(result.errors.contains("is not sealed, but \(opening.words)"), "\(result.errors)")
        }
        let simulated = try Program("device-simulator", in: folder.url).run(
            "deliver", "c", "--device", "alice-phone", "--topic", "com.example.app", "--keyring", unsealed.keyring.path)
        #expect(simulated.status == 77, "\(simulated)")
        // Listing shows no secret, and `doctor` says what is wrong.
        #expect(try program.run("keys", "list", "--keyring", unsealed.keyring.path).status == 0)
        let doctor = try program.run("doctor", "--json", "--keyring", unsealed.keyring.path)
        #expect(doctor.status == 1 && doctor.output.contains(#""severity":"problem""#), "\(doctor)")
        #expect(doctor.output.contains("in-the-clear"), "\(doctor)")
        // A sealed keyring is safe with any mode.
        let copy = try locked.copy()
        try open(copy.keyring)
        let sealed = try program.run(["trust", "list", "--keyring", copy.keyring.path] + locked.unlocking)
        #expect(sealed.status == 0, "\(sealed)")
    }
}

/// A way in which a secret file is open to other users, other than root.
enum Opening: Hashable, CustomTestStringConvertible, Sendable {
    case mode(Int)
    /// The mode of its folder.
    case folder(Int)
    /// The mode of the folder above its folder.
    case above(Int)
    case owner, folderOwner, aboveOwner

    /// Only root can give files to other users.
    static var possible: [Opening] {
        let modes = [0o640, 0o604, 0o620, 0o602, 0o666].map(Opening.mode) + [.folder(0o777), .above(0o777)]
        guard geteuid() == 0 else { return modes }
        return modes + [.owner, .folderOwner, .aboveOwner]
    }

    func open(_ path: String) throws {
        let file = URL(filePath: path)
        let folder = file.deletingLastPathComponent()
        let above = folder.deletingLastPathComponent()
        switch self {
        case .mode(let mode): #expect(chmod(file.path, mode_t(mode)) == 0)
        case .owner: #expect(chown(file.path, 1_600, 1_600) == 0)
        case .folder(let mode): #expect(chmod(folder.path, mode_t(mode)) == 0)
        case .folderOwner: #expect(chown(folder.path, 1_600, 1_600) == 0)
        case .above(let mode): #expect(chmod(above.path, mode_t(mode)) == 0)
        case .aboveOwner: #expect(chown(above.path, 1_600, 1_600) == 0)
        }
    }

    /// The start of the reason in messages.
    var words: String {
        switch self {
        case .mode(let mode):
            mode & 0o022 != 0
                ? "other users can change it; run `chmod 600`" : "other users can read it; run `chmod 600`"
        case .owner: "it belongs to another user; run the command as that user"
        case .folder, .above: "other users can write to the folder /"
        case .folderOwner, .aboveOwner: "/"
        }
    }

    var testDescription: String {
        switch self {
        case .mode(let mode): "mode " + String(mode, radix: 8)
        case .folder(let mode): "its folder's mode " + String(mode, radix: 8)
        case .above(let mode): "the mode above its folder " + String(mode, radix: 8)
        case .owner: "its owner"
        case .folderOwner: "its folder's owner"
        case .aboveOwner: "the owner above its folder"
        }
    }
}
