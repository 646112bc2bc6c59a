import Foundation
import PushKeyring
import PushSender
import SealedPush
import TestPrograms
import TestSupport
import Testing

/// Tests of a keyring sealed with a passphrase that an attacker replaces with an unsealed one.
@Suite("A keyring whose seal was removed", .blocking) struct StrippedSealTests {
    private let folder: TemporaryFolder
    private let program: Program
    /// The attacker's key for a phone with the same name as Alice's.
    private let stranger: DevicePublicKey

    init() throws {
        folder = try TemporaryFolder()
        program = Program("sealedpush", in: folder.url)
        try folder.write("correct horse battery staple\n", to: "pass")
        try folder.write(#"{"alert":{"title":"Nina","body":"Lunch at one?"}}"#, to: "content.json")
        _ = try Self.server(folder.appending("Server"), of: folder.appending("Phone"))
        stranger = try Self.server(folder.appending("Evil"), of: folder.appending("EvilPhone"))
        let passphrase = KeyringSecret.passphrase(Passphrase(Array("correct horse battery staple".utf8))!)
        try Keyring(folder: folder.appending("Server")).seal(with: passphrase)
    }

    /// Creates a server's keyring with `newsroom` and the proven key of `alice-phone`, and returns that key.
    private static func server(_ folder: URL, of phone: URL) throws -> DevicePublicKey {
        let server = Keyring(folder: folder)
        let phone = Keyring(folder: phone)
        try phone.generateDevice(named: "alice-phone", topic: "com.example.app")
        let sender = try server.generateSender(named: "newsroom")
        try server.add(phone.entry(named: "alice-phone").record!, named: "alice-phone")
        let challenge = try server.challenge("alice-phone", from: "newsroom")
        _ = try server.acceptAnswer(
            phone.answer(challenge.text, for: "alice-phone", trusting: [sender]), of: "alice-phone")
        return try server.recipient(named: "alice-phone").recipient
    }

    private func run(_ words: String, _ more: [String] = [], environment: [String: String] = [:]) throws
        -> Program.Result
    {
        // Run without a terminal: a command that prompts for the passphrase fails, and one that succeeds missed the change.
        let arguments =
            ["--wait", Program("sealedpush").executable.path] + words.split(separator: " ").map(String.init)
        return try Program(at: "/usr/bin/setsid", in: folder.url).run(
            arguments + more + ["--keyring", "Server"], environment: environment)
    }

    /// All commands that read a keyring.
    private static let reads = [
        "keys list", "keys show alice-phone", "keys export alice-phone",
        "keys export alice-phone --record",
        "keys export newsroom --secret --yes", "keys rotate --older-than 30d --dry-run",
        "keys rotate newsroom", "keys challenge alice-phone --from newsroom",
        "keys revoke alice-phone --yes", "keys backup new.backup --backup-secret pass",
        "keys import bob pushsender1", "keys generate sender radio", "keys passphrase --new-unlock pass",
        "keys passphrase --clear --yes",
        "keys generate authority authority", "trust sign authority newsroom --topic com.example.app",
        "trust list", "trust add newsroom --topic com.example.app",
        "trust remove newsroom --topic com.example.app",
        "seal content.json --from newsroom --to alice-phone --topic com.example.app",
        "seal content.json --anonymous --to alice-phone --topic com.example.app",
        "seal content.json --anonymous --unverified --to alice-phone --topic com.example.app",
        "open content.json --device alice-phone --topic com.example.app",
        "open content.json --device alice-phone --trust newsroom --topic com.example.app",
        "doctor content.json --device alice-phone --topic com.example.app", "device enroll alice-phone --token ab12",
        "device enroll alice-phone --token ab12 --unverified --topic com.example.app",
        "send content.json --all --queue-only --from newsroom --topic com.example.app --outbox made.sqlite",
        "outbox status --from newsroom --outbox made.sqlite",
        "serve --from newsroom --topic com.example.app --listen own.sock --outbox made.sqlite",
        "outbox status --outbox made.sqlite", "keys erase alice-phone --yes",
    ]

    @Test(
        "is refused by every command if this user has used it sealed, or demands a seal"
    )
    func replaced() throws {
        try folder.write(
            #"{"device":"bob-phone","token":"ab12","key":"\#(stranger)"}"# + "\n", to: "list.jsonl")
        let state = ["XDG_STATE_HOME": folder.appending("state").path]
        let made = try run(
            "device enroll --list list.jsonl --unverified --topic com.example.app --outbox made.sqlite",
            ["--unlock", "pass"], environment: state)
        #expect(made.status == 0, "\(made.errors)")
        #expect(try run("trust list", ["--unlock", "pass"], environment: state).status == 0)
        try FileManager.default.removeItem(at: folder.appending("Server"))
        try FileManager.default.copyItem(at: folder.appending("Evil"), to: folder.appending("Server"))
        let sender = try Keyring(folder: folder.appending("Evil")).sender(named: "newsroom").description
        var random = SeededGenerator()
        for words in Thoroughness.sample(12, of: Self.reads, using: &random) {
            let words = words.replacing("pushsender1", with: sender)
            let result = try run(words, environment: state)
            #expect(result.status == 77, "\(words): \(result.status) \(result.output)\(result.errors)")
            #expect(result.errors.contains("was sealed when it was last used"), "\(words): \(result.errors)")
            #expect(result.output.isEmpty, "\(words): \(result.output)")
            // This command decides whether it's sealed.
            guard !words.hasPrefix("keys passphrase") else { continue }
            let demanded = try run(words, environment: ["SEALED_PUSH_SEALED": "1"])
            #expect(demanded.status == 77 && demanded.errors.contains("is not sealed"), "\(words): \(demanded.errors)")
        }
        let doctor = try run("doctor", environment: state)
        #expect(doctor.status == 1 && doctor.output.contains("(seal-changed)"), "\(doctor.output)")
        // Run the hint's command as printed.
        let hint = try #require(
            try run("keys list", environment: state).errors.firstMatch(of: /`(rm '[^']+')`/)?.output.1)
        #expect(try Program(at: "/bin/sh").run("-c", String(hint)).status == 0)
        let seal = "seal content.json --from newsroom --to alice-phone --topic com.example.app"
        let accepted = try run(seal, environment: state)
        #expect(accepted.status == 0, "\(accepted.errors)")
        // Using a keyring without a seal prints a warning about who chooses the keys.
        #expect(accepted.errors.contains("Server is not sealed") && accepted.errors.contains("can replace keys"))
    }

    @Test("is recorded in the home folder if XDG_STATE_HOME isn't an absolute path") func places() throws {
        let files = FileManager.default
        for place in ["state", ""] {
            let home = folder.appending("home-\(place)")
            let environment = ["XDG_STATE_HOME": place, "HOME": home.path]
            #expect(try run("trust list", ["--unlock", "pass"], environment: environment).status == 0)
            let notes = home.appending(path: ".local/state/sealedpush")
            #expect(try files.contentsOfDirectory(atPath: notes.path).count == 1)
        }
        #expect(!files.fileExists(atPath: folder.appending("state").path))
    }

    @Test("causes one warning whenever a recipient or a sender is chosen from it")
    func warned() throws {
        let commands = [
            "seal content.json --from newsroom --to alice-phone --topic com.example.app",
            "seal content.json --anonymous --to alice-phone --topic com.example.app",
            "device enroll alice-phone --token ab12 --outbox warned.sqlite",
            "send content.json --all --queue-only --from newsroom --topic com.example.app --outbox warned.sqlite",
            "keys challenge alice-phone --from newsroom", "trust add newsroom --topic com.example.app",
            "keys generate sender radio",
        ]
        for words in commands {
            let result = try program.run(words.split(separator: " ").map(String.init) + ["--keyring", "Evil"])
            // This fails because the key is already proven, but the sender was chosen from the keyring.
            let status: Int32 = words.hasPrefix("keys challenge") ? 65 : 0
            #expect(result.status == status, "\(words): \(result.errors)")
            #expect(result.errors.components(separatedBy: "is not sealed").count == 2, "\(words): \(result.errors)")
        }
    }
}

/// Tests of a keyring in which an attacker has replaced a key, which must be noticed.
@Suite("A sealed keyring that was edited", .blocking) struct EditedKeyringTests {
    private let fixture: KeyringFixture
    private let copy: KeyringCopy
    private let strangers: [String]

    init() throws {
        fixture = try KeyringFixture(sealed: .key)
        copy = try fixture.copy()
        strangers = [
            SenderPrivateKey().sender.description, AuthorityPrivateKey().authority.description,
            DevicePrivateKey().recipient.description,
        ]
        let file = copy.keyring.appending(path: "keyring.txt")
        let text = try String(contentsOf: file, encoding: .utf8)
        var edited = text
        for (prefix, stranger) in [
            ("pushsender1", strangers[0]), ("pushauthority1", strangers[1]), ("push1", strangers[2]),
        ] { edited = edited.replacing(try Regex("public: \(prefix)\\w+"), with: "public: \(stranger)") }
        try #require(edited != text)
        try Data(edited.utf8).write(to: file)
    }

    private func run(_ words: String, isOpen: Bool) throws -> Program.Result {
        try Program("sealedpush").run(
            words.split(separator: " ").map(String.init) + ["--keyring", copy.keyring.path]
                + (isOpen ? ["--unlock", fixture.folder.appending("key").path] : []))
    }

    @Test(
        "doesn't print keys that would be trusted",
        arguments: [
            "keys export newsroom", "keys export alice-phone", "keys export alice-phone --record",
            "keys export bob-phone", "keys show newsroom", "keys show authority --json", "keys show newsroom --qr",
            "keys export newsroom --secret --yes", "trust list", "keys rotate --older-than 1d",
        ])
    func believed(_ words: String) throws {
        for (isOpen, status) in [(true, Int32(65)), (false, 77)] {
            let result = try run(words, isOpen: isOpen)
            #expect(result.status == status, "\(result.output)\(result.errors)")
            #expect(result.output.isEmpty)
            #expect(
                result.errors.contains(isOpen ? "was changed by something other than the keyring" : "SEALED_PUSH_KEY"))
        }
    }

    @Test("is listed as unverified without the secret, and refused with it") func listed() throws {
        let open = try run("keys list", isOpen: true)
        #expect(open.status == 65 && open.output.isEmpty, "\(open.errors)")
        #expect(open.errors.contains("was changed by something other"))
        let locked = try run("keys list", isOpen: false)
        #expect(locked.status == 0 && locked.output.contains("newsroom"), "\(locked.errors)")
        #expect(locked.errors.contains("unverified"))
    }
}
