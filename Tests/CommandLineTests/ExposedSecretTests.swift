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

    private func file(_ name: String, mode: Int) throws -> String {
        let file = fixture.folder.appending(name).path
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        return file
    }

    private func run(_ words: String, _ more: [String]) throws -> Program.Result {
        let arguments = words.split(separator: " ").map(String.init) + more + ["--keyring", copy.keyring.path]
        return try Program("sealedpush").run(arguments)
    }

    @Test(
        "that others may read or change are refused", arguments: [0o640, 0o604, 0o620, 0o602, 0o666])
    func refused(_ mode: Int) throws {
        let key = ["--unlock", fixture.folder.appending("key").path]
        for (words, option, name) in [
            ("trust list", "--unlock", "key"), ("trust list", "--unlock", "passphrase"),
            ("doctor", "--unlock", "key"), ("keys passphrase", "--new-unlock", "new-key"),
            ("keys passphrase", "--new-unlock", "passphrase"),
            ("keys backup \(fixture.folder.appending("b").path)", "--backup-secret", "new-key"),
            ("keys import radio", "--secret-file", "secret"),
        ] {
            let path = try file(name, mode: mode)
            let result = try run(words, [option, path] + (option == "--unlock" ? [] : key))
            #expect(result.status == 77, "\(words) \(option): \(result.status) \(result.errors)")
            #expect(result.errors.contains("\(path) contains a secret") && result.errors.contains("chmod 600"))
            _ = try file(name, mode: 0o600)
        }
    }

    @Test("of a server are refused, too: the APNs key, tokens, the TLS key, and the outbox's key") func ofServer()
        throws
    {
        let folder = try TemporaryFolder()
        try Keyring(folder: folder.appending("Keys")).generateSender(named: "newsroom")
        let path = try folder.write("x\n", to: "secret")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        let program = Program("sealedpush", in: folder.url)
        _ = try Outbox(at: folder.appending("outbox.sqlite").path(percentEncoded: false))
        let serve = "serve --from newsroom --topic com.example.app --listen 127.0.0.1:0"
        for words in [
            "work --provider-key ABCDE12345,FGHIJ67890,secret --until-empty",
            "serve --from newsroom --topic com.example.app --provider-key ABCDE12345,FGHIJ67890,secret",
            "\(serve) --token-file secret", "\(serve) --tls secret,secret",
            "outbox status --outbox-key secret", "device list --outbox-key secret",
        ] {
            let result = try program.run(words.split(separator: " ").map(String.init))
            #expect(result.status == 77, "\(words): \(result.status) \(result.errors)")
            #expect(result.errors.contains("secret contains a secret") && result.errors.contains("chmod 600"))
        }
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
        arguments: [("keyring.txt", 0o644), ("keyring.txt", 0o640), ("keyring.txt", 0o620), ("keyring.txt", 0o666)]
            + [("", 0o777), ("", 0o1777), ("", 0o775), ("", 0o757)])
    func keyring(_ name: String, _ mode: Int) throws {
        let folder = try TemporaryFolder()
        let program = Program("sealedpush", in: folder.url)
        let (clear, locked) = (try KeyringFixture(sealed: .clear), try KeyringFixture(sealed: .key))
        func open(_ keyring: URL) throws {
            let path = name.isEmpty ? keyring.path : keyring.appending(path: name).path
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        try open(clear.keyring)
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
            let result = try program.run(words + ["--keyring", clear.keyring.path])
            #expect(result.status == 77, "\(words): \(result)")
            #expect(result.errors.contains("not sealed, but other users can") && result.errors.contains("run `chmod"))
        }
        let simulated = try Program("device-simulator", in: folder.url).run(
            "deliver", "c", "--device", "alice-phone", "--topic", "com.example.app", "--keyring", clear.keyring.path)
        #expect(simulated.status == 77, "\(simulated)")
        // Listing shows no secret, and `doctor` says what is wrong.
        #expect(try program.run("keys", "list", "--keyring", clear.keyring.path).status == 0)
        let doctor = try program.run("doctor", "--json", "--keyring", clear.keyring.path)
        #expect(doctor.status == 1 && doctor.output.contains("-by-others\""), "\(doctor)")
        #expect(doctor.output.contains("in-the-clear"), "\(doctor)")
        // A sealed keyring is safe with any mode.
        try open(locked.keyring)
        let sealed = try program.run(["trust", "list", "--keyring", locked.keyring.path] + locked.unlocking)
        #expect(sealed.status == 0, "\(sealed)")
    }
}
