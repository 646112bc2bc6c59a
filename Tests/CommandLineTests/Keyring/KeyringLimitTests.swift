import Foundation
import PushKeyring
import SealedPush
import TestPrograms
import TestSupport
import Testing

@Suite("A keyring at its limits", .blocking) struct KeyringLimitTests {
    private enum Intruder: String, CaseIterable {
        case huge, pipe, folder, loop, empty, noise

        func place(at path: String) throws {
            try FileManager.default.removeItem(atPath: path)
            switch self {
            case .huge:
                #expect(FileManager.default.createFile(atPath: path, contents: nil))
                let handle = try #require(FileHandle(forWritingAtPath: path))
                try handle.truncate(atOffset: 100_000_000)
                try handle.close()
            case .pipe: #expect(mkfifo(path, 0o600) == 0)
            case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            case .loop: #expect(symlink(path, path) == 0)
            case .empty: #expect(FileManager.default.createFile(atPath: path, contents: nil))
            case .noise: try Data((0..<5_000).map { UInt8($0 & 255) }).write(to: URL(filePath: path))
            }
        }
    }

    @Test("is refused by every command, without delay, if its file is something else", arguments: [0, 1])
    func intruders(_ seal: Int) throws {
        let fixture = try KeyringFixture(sealed: [.clear, .key][seal])
        for intruder in Intruder.allCases {
            let copy = try fixture.copy()
            try intruder.place(at: copy.keyring.appending(path: "keyring.txt").path)
            // No command may wait for the file: a named pipe would block it forever.
            for words in ["keys list", "keys show weather", "keys rotate weather", "keys generate sender radio"] {
                let result = try Program("sealedpush").run(
                    words.split(separator: " ").map(String.init) + ["--keyring", copy.keyring.path] + fixture.unlocking)
                #expect([65, 74].contains(result.status), "\(intruder): \(words)")
                #expect(result.errors.contains("keyring.txt"), "\(intruder): \(result.errors)")
                #expect(result.output.isEmpty)
            }
        }
    }

    @Test("refuses every change completely if its audit log is a folder or pipe") func audit() throws {
        for intruder in [Intruder.folder, .pipe, .loop] {
            let aftermath = try KeyringAftermath(KeyringCommand.all[0], KeyringFixture(sealed: .clear))
            let copy = try aftermath.fixture.copy()
            let log = copy.keyring.appending(path: "audit.jsonl")
            try intruder.place(at: log.path)
            for _ in 0..<2 {
                let result = try Program("sealedpush").run(copy.words(aftermath.command))
                #expect(result.status == 74)
                #expect(result.errors.contains("audit.jsonl"), "\(result.errors)")
            }
            #expect(try Program("sealedpush").run("keys", "list", "--keyring", copy.keyring.path).status == 0)
            try FileManager.default.removeItem(at: log)
            try FileManager.default.copyItem(at: aftermath.fixture.keyring.appending(path: "audit.jsonl"), to: log)
            #expect(try aftermath.check(copy.keyring, "after \(intruder)") == .old)
        }
    }

    @Test("handles every wrong passphrase in the same way, with the same system calls") func wrongSecrets() throws {
        let fixture = try KeyringFixture(sealed: .passphrase)
        var answers: Set<String> = []
        var ways: Set<[String]> = []
        for text in [
            "x", "correct horse battery stapl", "correct horse battery staple2", String(repeating: "y", count: 1_024),
        ] {
            let copy = try fixture.copy()
            let file = try copy.folder.write(text + "\n", to: "passphrase")
            let words = ["keys", "rotate", "newsroom", "--keyring", copy.keyring.path, "--unlock", file]
            let result = try Program("sealedpush").run(words)
            answers.insert("\(result.status) \(result.output) \(result.errors)")
            if Machine.canTrace { ways.insert(try SystemCallTrace(words).calls.map(\.name)) }
        }
        #expect(answers == ["77  sealedpush: this is not the keyring's passphrase\n"])
        #expect(ways.count == (Machine.canTrace ? 1 : 0))
    }

    @Test("refuses even the right passphrase if there is too little memory to derive a key") func memory() throws {
        let fixture = try KeyringFixture(sealed: .passphrase)
        let copy = try fixture.copy()
        let file = copy.keyring.appending(path: "keyring.txt")
        let text = try Checkout.text(file).replacing(/memory: [0-9]+/, with: "memory: \(1 << 30)")
        try Data(text.utf8).write(to: file)
        let words = (["keys", "rotate", "newsroom", "--keyring", copy.keyring.path] + fixture.unlocking)
            .map { "'\($0)'" }.joined(separator: " ")
        let result = try Program(at: "/bin/bash").run(
            "-c", "ulimit -v 900000; exec \"$0\" \(words)", Program("sealedpush").executable.path)
        #expect(result.status == 74 && result.errors.contains("not enough memory"), "\(result.errors)")
    }
}
