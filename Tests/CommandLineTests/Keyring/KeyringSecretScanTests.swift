import Foundation
import PushKeyring
import SealedPush
import TestPrograms
import TestSupport
import Testing

@Suite("The commands' output", .blocking) struct KeyringSecretScanTests {
    /// The keyring's seals to test: in the clear and sealed, or one of them at random in a plain run.
    private static let seals: [KeyringFixture.Seal] = {
        var random = SeededGenerator()
        let both = [KeyringFixture.Seal.clear, .key]
        return Thoroughness.isThorough ? both : [both.randomElement(using: &random)!]
    }()

    @Test("contains no secret in any form from any command", arguments: seals)
    func outputs(_ seal: KeyringFixture.Seal) throws {
        let clear = try KeyringFixture(sealed: .clear)
        var scan = SecretScan()
        try scan.addSecrets(below: clear.folder.url)
        scan.add(Array("correct horse battery staple".utf8), name: "passphrase")
        #expect(scan.secretCount > 12)
        let run = try Runs(of: clear, sealed: seal, withHelp: Thoroughness.isThorough || seal == .clear)
        var scannedCount = 0
        let all = try Self.commands(clear) + KeyringCommand.all.map { try $0.words(clear) }
        // A secret is exported before it is rotated.
        let commands = all.filter { $0.contains("--secret") } + all.filter { !$0.contains("--secret") }
        for command in commands {
            for (words, outcome) in try run.outcomes(of: command) {
                scannedCount += 2
                let isExport = words.contains("--secret") && words.contains("--yes") && !words.contains("--help")
                let isShown = isExport && outcome.status == 0
                let found = scan.find(in: Data(outcome.output.utf8))
                #expect((found != nil) == isShown, "\(words): \(found ?? "")")
                let foundError = scan.find(in: Data(outcome.errors.utf8))
                #expect(foundError == nil, "\(words): \(foundError ?? "")")
                #expect(!outcome.errors.contains("Fatal error"), "\(words): \(outcome.errors)")
            }
        }
        for file in run.files {
            let isSecret = seal == .clear && file.lastPathComponent == "keyring.txt"
            let found = scan.find(in: try Data(contentsOf: file))
            #expect(found == nil || isSecret, "\(file.lastPathComponent): \(found ?? "")")
            scannedCount += 1
        }
        print("\(scannedCount) outputs and files were searched for \(scan.secretCount) secrets")
        #expect(scannedCount > Thoroughness.count(3, thorough: 6) * commands.count)
    }

    @Test("is searched so that a secret in any form and at any place would be found") func planted() throws {
        let text = try KeyringFixture(sealed: .clear).text("secret")
        let secret = SecretScan.bytes(ofText: text)
        // Check that the library reads the same key from the text.
        let key = try SenderPrivateKey(parsing: Array(text.utf8))
        #expect(try SenderPrivateKey(parsing: Array(text.utf8)).sender == key.sender)
        var scan = SecretScan()
        scan.add(secret, text: text, name: "planted")
        let forms = SecretScan.forms(of: secret, text: text)
        #expect(forms.count == 11)
        for form in forms {
            for start in 0...(form.bytes.count - SecretScan.windowByteCount) {
                let piece = form.bytes[start..<(start + SecretScan.windowByteCount)]
                #expect(scan.find(in: Data("{\"x\":\"".utf8 + piece + "\"}\n".utf8)) != nil, "\(form.name) at \(start)")
                // The byte next to the shorter piece may happen to match the secret.
                guard piece.last != 1, start == 0 || form.bytes[start - 1] != UInt8(ascii: "\"") else { continue }
                #expect(scan.find(in: Data("{\"x\":\"".utf8 + piece.dropLast() + "\u{1}".utf8)) == nil)
            }
        }
        // Search encodings made by other code.
        for before in 0..<3 {
            let data = Data([UInt8](repeating: 0x5a, count: before) + secret + [1, 2, 3])
            #expect(scan.find(in: Data(data.base64EncodedString().utf8)) != nil)
        }
        #expect(scan.find(in: Data(text.utf8)) != nil)
        #expect(scan.find(in: Data(text.lowercased().utf8)) != nil)
        #expect(scan.find(in: Data("push1, PUSH-SENDER-SECRET-KEY-1, \(key.sender)".utf8)) == nil)
    }

    @Test("is searched for all commands that --help lists") func complete() throws {
        let fixture = try KeyringFixture(sealed: .clear)
        let tried = try Self.commands(fixture) + KeyringCommand.all.map { try $0.words(fixture) }
        let listed = try Self.subcommands(of: [])
        #expect(listed.count >= 22)
        for command in listed {
            #expect(tried.contains { $0.starts(with: command) }, "no test covers \(command.joined(separator: " "))")
        }
    }

    @Test(
        "doesn't reach other programs, because no program is started",
        .enabled(if: Machine.canTrace, "strace is missing, or may not trace processes."))
    func processes() throws {
        let copy = try KeyringFixture(sealed: .passphrase).copy()
        let log = copy.folder.appending("trace")
        let words = try copy.words(KeyringCommand("keys rotate newsroom", "rotated"))
        let trace =
            ["-f", "-qq", "-e", "trace=execve,execveat,fork,vfork", "-o", log.path] + SystemCallTrace.noLeakCheck
        let result = try Program(at: "/usr/bin/strace").run(trace + [Program("sealedpush").executable.path] + words)
        #expect(result.status == 0)
        let calls = try Checkout.text(log)
        // Only the program's own start. Ignore lines about signals.
        let started = calls.split(separator: "\n").filter { !$0.contains(" --- SIG") }
        #expect(started.count == 1, "\(calls)")
    }

    /// The commands that don't change the keyring, and wrong uses of those that would.
    private static func commands(_ fixture: KeyringFixture) throws -> [[String]] {
        let sender = try fixture.text("sender")
        let secret = fixture.folder.appending("secret").path
        let names = ["alice-phone", "newsroom"]
        let topic = ["--topic", "com.example.app"]
        let outbox = ["--outbox", fixture.folder.appending("outbox.sqlite").path]
        let send = ["--from", "newsroom", "--queue-only"] + topic + outbox
        let sending =
            [
                ["device", "enroll", "alice-phone", "--token", "ab"], ["device", "enroll", "--list", secret],
                ["device", "enroll", "bob-phone", "--token", secret], ["device", "list"],
                ["device", "remove", "bob-phone", "--yes"], ["outbox", "status", "--refused"], ["outbox", "retry"],
                ["outbox", "purge", "--refused"], ["outbox", "status", "--from", "newsroom"],
                // An address where it can't listen, so that it ends after reading the keys.
                ["serve", "--from", "newsroom", "--topic", "com.example.app", "--listen", "none/s"],
                // An address that needs TLS.
                ["serve", "--from", "newsroom", "--listen", "192.0.2.1:0", "--token-file", secret] + topic,
                ["serve", "--from", "newsroom", "--notify-tokens", secret] + topic,
                ["serve", "--from", "newsroom", "--sender-set", secret] + topic, ["work", "--apns", secret],
                ["work", "--provider-key", "ABCDE12345,FGHIJ67890,\(secret)"],
            ].map { $0 + outbox }
            + [["send", secret, "--all"] + send, ["send", "/dev/null", "--user", "alice-phone"] + send]
        return sending + [
            ["attach", secret, "--url", "https://a/b", "--output", secret + ".sealed", "--entry", secret + ".entry"],
            ["attach", secret, "--url", secret, "--output", secret, "--content", secret], ["keys"], ["doctor"],
            ["doctor", secret, "--device", "alice-phone"] + topic, ["keys", "restore", secret], ["keys", "list"],
            ["trust"], ["trust", "list"], ["inspect", secret], ["inspect", "/dev/null"],
            ["keys", "import", "x", "--secret-file", "/dev/null"], ["keys", "passphrase"],
            ["keys", "import", "newsroom", "--secret-file", secret], ["keys", "show", "newsroom", "--qr"],
            ["keys", "rotate", "--older-than", "1d", "--dry-run"], ["open", secret, "--device", "alice-phone"] + topic,
            ["seal", secret, "--from", "newsroom", "--to", "alice-phone"] + topic, ["trust", "add", secret] + topic,
            ["keys", "import", "y", try fixture.text("record") + "x"], ["keys", "show", sender],
            ["keys", "list", "--unlock", secret], ["keys", "show", "nobody"], ["keys", "show", "bob-phone"],
            ["keys", "rotate", "newsroom", "--unlock", fixture.folder.appending("new-key").path],
            ["keys", "rotate", "newsroom", "--unlock", fixture.folder.appending("passphrase").path],
            ["keys", "passphrase", "--new-unlock", secret], ["keys", "challenge", "alice-phone", "--reply", "x"],
            ["keys", "passphrase", "--new-unlock", secret, "--new-unlock", secret], ["setup", "--in", secret] + topic,
            ["setup", "--in", fixture.folder.appending("Services").path] + topic,
            ["start", "--in", fixture.folder.appending("Services").path] + topic + ["--", "--listen", "none/s"],
        ]
            + names.flatMap { name in
                [
                    ["keys", "show", name], ["keys", "export", name], ["keys", "export", name, "--record"],
                    ["keys", "rotate", name, "--confirm"], ["keys", "rotate", name],
                    ["seal", "/dev/null", "--from", name, "--to", name] + topic,
                ]
            }
    }

    /// Returns the commands without subcommands.
    private static func subcommands(of command: [String]) throws -> [[String]] {
        let help = try Program("sealedpush").run(command + ["--help"]).output
        guard let list = help.components(separatedBy: "SUBCOMMANDS:\n").dropFirst().first else { return [command] }
        let names = list.split(separator: "\n", omittingEmptySubsequences: false).prefix { !$0.isEmpty }
            .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }.map { $0.split(separator: " ")[0] }
        return try names.flatMap { try subcommands(of: command + [String($0)]) }
    }
}

/// Runs of commands on copies of one keyring: unchanged, and with a wrong key, a damaged file, and JSON output, or a random one
/// of these.
private final class Runs {
    private let fixture: KeyringFixture
    private let seal: KeyringFixture.Seal
    private let whole: KeyringCopy
    private let damaged: KeyringCopy
    private let withHelp: Bool
    private var known: Set<String> = []
    private var random = SeededGenerator()

    init(of fixture: KeyringFixture, sealed seal: KeyringFixture.Seal, withHelp: Bool) throws {
        self.withHelp = withHelp
        self.fixture = fixture
        self.seal = seal
        whole = try fixture.copy()
        if seal == .key { try Keyring(folder: whole.keyring).seal(with: fixture.secrets[0]) }
        damaged = try whole.copy()
        // Cut off the end, and change the states.
        let file = damaged.keyring.appending(path: "keyring.txt")
        let text = try Checkout.text(file)
        try Data(text.replacing("state: active", with: "state: retired").dropLast(12).utf8).write(to: file)
    }

    func outcomes(of words: [String]) throws -> [(words: [String], outcome: Program.Result)] {
        // Reseal only a temporary copy.
        let whole = words.starts(with: ["keys", "passphrase"]) ? try self.whole.copy() : whole
        let keys: [[String]] = seal == .clear || words.contains("--unlock") ? [[]] : [["key"], ["new-key"]]
        var outcomes: [(words: [String], outcome: Program.Result)] = []
        func run(_ words: [String], _ more: [String]) throws {
            // Run without a terminal, so that the program can't prompt.
            let arguments = ["--wait", Program("sealedpush").executable.path] + words + more
            outcomes.append((words, try Program(at: "/usr/bin/setsid").run(arguments)))
        }
        let hasKeyring = !Self.withoutKeyring.contains { words.starts(with: $0) }
        func keyring(_ copy: KeyringCopy, _ key: [String]) -> [String] {
            guard hasKeyring else { return [] }
            return ["--keyring", copy.keyring.path] + key.flatMap { ["--unlock", fixture.folder.appending($0).path] }
        }
        try run(words, keyring(whole, keys[0]))
        var others = [(words + ["--json"], keyring(whole, keys[0]))]
        others += keys.map { (words, keyring(damaged, $0)) } + keys.dropFirst().map { (words, keyring(whole, $0)) }
        for (words, more) in others.shuffled(using: &random).prefix(Thoroughness.count(1, thorough: others.count)) {
            try run(words, more)
        }
        if withHelp, known.insert(words.prefix(2).joined(separator: " ")).inserted {
            try run(words + ["--help"], [])
            try run(words + ["--no-such-flag"], [])
        }
        return outcomes
    }

    private static let withoutKeyring = [
        ["device", "list"], ["device", "remove"], ["outbox", "retry"], ["outbox", "purge"], ["work"],
        ["setup"], ["start"],
    ]

    var files: [URL] { [whole, damaged].flatMap { (try? Checkout.allFiles(in: $0.keyring)) ?? [] } }
}

/// A search for secrets in a program's output: for any 16 consecutive bytes of any encoding of a secret.
struct SecretScan {
    static let windowByteCount = 16

    /// An encoding of a secret, as it would appear in a text or file.
    struct Form {
        let name: String
        let bytes: [UInt8]
    }

    private var windows: [Window: String] = [:]
    private(set) var secretCount = 0

    private struct Window: Hashable {
        let first: UInt64
        let second: UInt64

        init(_ bytes: UnsafeRawPointer) {
            first = bytes.loadUnaligned(as: UInt64.self)
            second = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        }
    }

    mutating func add(_ secret: [UInt8], text: String? = nil, name: String) {
        secretCount += 1
        for form in Self.forms(of: secret, text: text) {
            form.bytes.withUnsafeBytes { bytes in
                guard bytes.count >= Self.windowByteCount else { return }
                for start in 0...(bytes.count - Self.windowByteCount) {
                    windows[Window(bytes.baseAddress! + start)] = "\(name), \(form.name)"
                }
            }
        }
    }

    /// Returns the first secret found, with its form, or nil if there is none.
    func find(in output: Data) -> String? {
        output.withUnsafeBytes { bytes in
            guard bytes.count >= Self.windowByteCount else { return nil }
            var start = 0
            while start <= bytes.count - Self.windowByteCount {
                if let found = windows[Window(bytes.baseAddress! + start)] { return found }
                start += 1
            }
            return nil
        }
    }

    /// Returns a secret's forms: raw, hexadecimal in both cases, Base64 and base64url at each alignment, and a key's text in
    /// both cases.
    static func forms(of secret: [UInt8], text: String?) -> [Form] {
        let hex = secret.map { String(format: "%02x", $0) }.joined()
        var forms = [
            Form(name: "raw", bytes: secret), Form(name: "hex", bytes: Array(hex.utf8)),
            Form(name: "HEX", bytes: Array(hex.uppercased().utf8)),
        ]
        for offset in 0..<3 {
            let coded = Data([UInt8](repeating: 0, count: offset) + secret).base64EncodedString()
            // The characters at both ends depend on the bytes around the secret.
            let inner = String(coded.dropFirst(offset == 0 ? 0 : offset + 1).dropLast(4))
            let safe = inner.replacing("+", with: "-").replacing("/", with: "_")
            forms.append(Form(name: "Base64 at \(offset)", bytes: Array(inner.utf8)))
            forms.append(Form(name: "base64url at \(offset)", bytes: Array(safe.utf8)))
        }
        if let text {
            // The part after the prefix; the prefix itself isn't secret.
            let data = text.split(separator: "1", maxSplits: 1).last ?? ""
            forms.append(Form(name: "text", bytes: Array(data.uppercased().utf8)))
            forms.append(Form(name: "small text", bytes: Array(data.lowercased().utf8)))
        }
        return forms
    }

    /// Adds every secret key in the files of an unsealed keyring, and the keyring's own key.
    mutating func addSecrets(below folder: URL) throws {
        for file in FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) ?? .init() {
            guard let file = file as? URL, let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
            for word in text.split(whereSeparator: { " \n".contains($0) }) {
                guard word.contains("SECRET-KEY-1") || word.hasPrefix("PUSH-KEYRING-KEY-1") else { continue }
                add(Self.bytes(ofText: String(word)), text: String(word), name: file.lastPathComponent)
            }
        }
    }

    /// Returns the 32 bytes of a key's text, which uses the alphabet of BIP 173.
    static func bytes(ofText text: String) -> [UInt8] {
        let alphabet = Array("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")
        var bytes: [UInt8] = []
        var bits = 0
        var bitCount = 0
        for character in text.split(separator: "1", maxSplits: 1).last ?? "" where bytes.count < 32 {
            bits = bits << 5 | (alphabet.firstIndex(of: character) ?? 0)
            bitCount += 5
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(bits >> bitCount & 0xff))
            }
        }
        return bytes
    }
}
