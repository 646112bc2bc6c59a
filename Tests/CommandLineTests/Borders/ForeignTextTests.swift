import CommandSupport
import Foundation
import PushCore
import PushKeyring
import SealedPush
import TestPrograms
import TestSupport
import Testing

/// Bytes in Latin-1, as old terminals and file systems use them, at each border where text enters a program.
@Suite("Text that isn't UTF-8", .blocking) struct ForeignTextTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Runs a line of Bash, in which `$p` is the program.
    private func bash(_ line: String, _ program: String = "sealedpush", input: String = "") throws -> Program.Result {
        try Program(at: "/bin/bash", in: folder.url).run(
            ["-c", "p=\"$0\"; \(line)", Program(program).executable.path], input: input)
    }

    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path) }

    /// `X` is the place of the argument.
    private static let commands: [(program: String, words: String)] =
        [
            "keys list --keyring X", "keys generate sender X", "keys show X", "keys import a --secret-file X",
            "keys backup X --backup-secret key", "keys restore X", "keys passphrase --new-unlock X",
            "trust add X --topic a",
            "attach X --url https://a/b --output o --entry e", "attach p.png --url https://a/b --output X --entry e",
            "attach p.png --url https://a/b --output o --entry e --id X", "seal X --from a --to b --topic c",
            "seal c.json --from a --to b --topic c --output X", "seal c.json --from a --to b --topic c --default X",
            "open X --device a --topic b", "inspect X", "doctor --ready X",
            "device enroll d --user X --token abcd --topic a", "device enroll --list X", "device list --user X",
            "device list --outbox X", "device remove X --yes", "outbox status --outbox=X", "outbox retry --reason X",
            "send c.json --user X --from a --topic b --queue-only",
            "send c.json --all --id X --from a --topic b --queue-only",
            "work --apns X", "work --provider-key A,B,X", "serve --from a --topic b --listen X",
            "serve --from a --topic b --outbox-key X", "setup --in X --topic a", "start --in X --topic a", "X", "--X",
        ].map { ("sealedpush", $0) }
        + [
            "deliver X --device a --topic b", "deliver - --device a --topic b --state X",
            "run --apns X --device a --topic b",
            "deliver - --device a --topic b --app-name X --picture a.png", "apns --folder X", "trial --folder X",
            "apns --folder a --key A,B,X",
        ].map { ("device-simulator", $0) }

    @Test("in an argument is refused, and no command makes or reads another file") func arguments() throws {
        try folder.write(#"{"alert":{"body":"b"}}"#, to: "c.json")
        for (program, words) in Self.commands {
            let line = words.replacing("X", with: #"$'Zo\xeb'"#)
            let result = try bash("$p \(line)", program)
            #expect(result.status == 64, "\(program) \(words): \(result.status) \(result.errors)")
            #expect(result.errors.contains("isn't valid UTF-8") && !result.errors.contains("Zo"), "\(result.errors)")
            #expect(result.output.isEmpty && result.errors.split(separator: "\n").count == 1, "\(result.errors)")
        }
        #expect(try names() == ["c.json"])
        // The same words in UTF-8 are accepted, however unusual.
        #expect(try bash(#"$p keys generate sender a --keyring $'Zo\xc3\xab'"#).status == 0)
        #expect(try names().sorted() == ["Zoë", "c.json"])
    }

    @Test("in a variable that a program reads is refused by name", arguments: ["sealedpush", "device-simulator"])
    func variables(_ program: String) throws {
        #expect(ProgramStart.variables.count > 10)
        for name in ProgramStart.variables {
            let result = try bash("env \(name)=$'/caf\\xe9' $p --version", program)
            #expect(result.status == 64 && result.errors.contains("variable \(name) isn't valid UTF-8"), "\(name)")
            #expect(!result.errors.contains("caf"), "\(result.errors)")
        }
        #expect(try bash("env OTHER=$'caf\\xe9' $p --version", program).status == 0)
    }

    @Test("in the current folder's path is refused, and a folder that was removed isn't")
    func currentFolder() throws {
        for program in ["sealedpush", "device-simulator"] {
            let result = try bash("mkdir -p $'caf\\xe9' && cd $'caf\\xe9' && $p --version", program)
            #expect(result.status == 64 && result.errors.contains("current folder"), "\(result.errors)")
            #expect(try bash("mkdir gone && cd gone && rmdir ../gone && $p --version", program).status == 0)
        }
    }

    @Test("in file names never makes two names one") func fileNames() throws {
        #expect(try bash("touch $'a\\xe9' $'a\\xe8' $'a\\xef\\xbf\\xbd' b").status == 0)
        #expect(try DurableFiles.names(in: folder.url).sorted() == ["a\u{fffd}", "b"].sorted())
        // Links lead to sealed keyrings in two such folders. Each has its own note, so neither is taken for the other.
        let keys = """
            export XDG_STATE_HOME=$PWD/State
            for byte in 8 9; do
              mkdir $(printf "caf\\\\xe$byte"); ln -s $(printf "caf\\\\xe$byte") link$byte
              $p keys passphrase --new-unlock key$byte --keyring link$byte/Keys || exit 1
            done
            $p keys generate sender a --keyring link8/Keys --unlock key8 && $p keys list --keyring link9/Keys && ls State/*
            """
        let result = try bash(keys)
        #expect(result.status == 0 && result.output.matches(of: /[0-9a-f]{32}\.txt/).count == 2, "\(result)")
    }

    @Test("in files and standard input is refused, or taken byte for byte") func contents() throws {
        #expect(
            try bash("$p keys generate sender news --keyring K && $p keys generate device d --keyring K").status == 0)
        let message = #"'{"alert":{"body":"caf\xe9"}}'"#
        let push = #"'{"aps":{"alert":"caf\xe9"},"custom-encrypted-message":"AQ"}'"#
        let device = #"'{"device":"d","user":"Zo\xeb","token":"ab"}'"#
        for (program, line, status) in [
            ("sealedpush", "printf \(message) | $p seal - --from news --to d --topic a --keyring K", 65),
            ("sealedpush", "printf \(message) >c; $p seal c --from news --to d --topic a --keyring K", 65),
            ("sealedpush", "printf \(message) | $p seal --batch - --from news --topic a --keyring K", 65),
            ("sealedpush", "printf \(push) | $p inspect -", 65), ("sealedpush", "printf \(push) >p; $p inspect p", 65),
            ("sealedpush", "printf \(device) | $p device enroll --list - --keyring K", 65),
            ("sealedpush", "printf 'push1caf\\xe9' | $p keys import x --secret-file - --keyring K", 65),
            ("device-simulator", "printf \(push) | $p deliver - --device d --topic a --keyring K", 65),
            // A passphrase is bytes: another one doesn't open the keyring.
            ("sealedpush", "printf 'correct horse \\xe9' | $p keys passphrase --new-unlock - --keyring K", 0),
            ("sealedpush", "printf 'correct horse \\xe8' | $p doctor --unlock - --keyring K", 1),
            ("sealedpush", "printf 'correct horse \\xe8' | $p trust list --unlock - --keyring K", 77),
            ("sealedpush", "printf 'correct horse \\xe9' | $p trust list --unlock - --keyring K", 0),
        ] as [(String, String, Int32)] {
            let result = try bash("set -o pipefail; \(line)", program)
            #expect(result.status == status, "\(line): \(result.status) \(result.errors)")
            #expect(!(result.output + result.errors).contains("\u{fffd}"), "\(line): \(result)")
        }
    }

    @Test("in a keyring's file makes it damaged, even if its checksum is right") func keyring() throws {
        try Keyring(folder: folder.appending("Keys")).generateSender(named: "newsroom")
        let file = folder.appending("Keys/keyring.txt")
        let text = try Checkout.text(file)
        let end = try #require(text.range(of: "checksum: "))
        for (note, status) in [(Array("café".utf8), 0), (Array("caf".utf8) + [0xe9], 65)] as [([UInt8], Int32)] {
            let place = try #require(text.range(of: "name: newsroom\n")).upperBound
            let bytes =
                Array(text[..<place].utf8) + Array("note: ".utf8) + note + [0x0a] + text[place..<end.lowerBound].utf8
            let checksum = Base64URL.encode(BLAKE2b.hash(bytes, byteCount: 32))
            try Data(bytes + Array("checksum: \(checksum)\n".utf8)).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            let result = try bash("$p keys list --keyring Keys")
            #expect(result.status == status, "\(result)")
            #expect(status == 0 || result.errors.contains("damaged"), "\(result)")
        }
    }
}
