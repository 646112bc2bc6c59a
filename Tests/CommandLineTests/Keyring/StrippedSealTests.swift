import Foundation
import PushKeyring
import SealedPush
import TestPrograms
import TestSupport
import TestThreads
import Testing

/// A keyring under a passphrase that is asked for, of which somebody who may write the folder takes `keyring.txt` away.
@Suite("A keyring whose seal was taken away", .blocking)
struct StrippedSealTests {
    private let folder: TemporaryFolder
    private let program: Program
    /// Alice's record, and a stranger's for a phone of the same name.
    private let stranger: Recipient

    init() throws {
        folder = try TemporaryFolder()
        program = Program("sealedpush", in: folder.url)
        try folder.write("correct horse battery staple\n", to: "pass")
        try folder.write(#"{"alert":{"title":"Nina","body":"Lunch at one?"}}"#, to: "content.json")
        try FileManager.default.createDirectory(at: folder.appending("x"), withIntermediateDirectories: false)
        _ = try Self.server(folder.appending("Server"), of: folder.appending("Phone"))
        stranger = try Self.server(folder.appending("Evil"), of: folder.appending("EvilPhone"))
        let passphrase = KeyringSecret.passphrase(Passphrase(Array("correct horse battery staple".utf8))!)
        try Keyring(folder: folder.appending("Server")).seal(with: passphrase)
    }

    /// A server's keyring with `newsroom` and the proven key of `alice-phone`.
    private static func server(_ folder: URL, of phone: URL) throws -> Recipient {
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
        // Without a terminal: whoever asks for the passphrase is refused, and who does not ask has not noticed the seal.
        let arguments =
            ["--wait", Program("sealedpush").executable.path] + words.split(separator: " ").map(String.init)
        return try Program(at: "/usr/bin/setsid", in: folder.url).run(
            arguments + more + ["--keyring", "Server"], environment: environment)
    }

    private func strip() throws {
        let files = FileManager.default
        try files.moveItem(at: folder.appending("Server/keyring.txt"), to: folder.appending("x/keyring.txt"))
        let file = folder.appending("Server/public/alice-phone.txt")
        try files.moveItem(at: file, to: folder.appending("x/alice-phone.txt"))
        try files.copyItem(at: folder.appending("Evil/public/alice-phone.txt"), to: file)
    }

    private func putBack() throws {
        let files = FileManager.default
        try files.moveItem(at: folder.appending("x/keyring.txt"), to: folder.appending("Server/keyring.txt"))
        let file = folder.appending("Server/public/alice-phone.txt")
        try files.removeItem(at: file)
        try files.moveItem(at: folder.appending("x/alice-phone.txt"), to: file)
    }

    @Test("a stranger's key put into it is not enrolled, so nothing is sealed to it once all is as it was")
    func enrolled() throws {
        try strip()
        let enrol = try run("device enroll alice-phone --token ab12 --user alice --outbox outbox.sqlite")
        #expect(enrol.status == 77, "\(enrol.output)\(enrol.errors)")
        #expect(enrol.errors.contains("keyring.txt is missing"))
        #expect(!FileManager.default.fileExists(atPath: folder.appending("outbox.sqlite").path))
        try putBack()
        let passphrase = ["--passphrase-file", "pass"]
        let again = try run("device enroll alice-phone --token ab12 --user alice --outbox outbox.sqlite", passphrase)
        #expect(again.status == 0, "\(again.errors)")
        let listed = try program.run("device", "list", "--outbox", "outbox.sqlite", "--json")
        #expect(listed.output.contains("alice") && !listed.output.contains(stranger.keyID.description))
    }

    /// Every command that reads a keyring.
    private static let reads = [
        "keys list", "keys show", "keys show alice-phone", "keys export alice-phone",
        "keys export alice-phone --record",
        "keys fingerprint alice-phone", "keys export newsroom --secret --yes", "keys rotate --older-than 30d --dry-run",
        "keys rotate newsroom", "keys confirm alice-phone --from newsroom", "keys rename alice-phone alice",
        "keys revoke alice-phone --yes", "keys backup new.backup --backup-passphrase-file pass",
        "keys import bob pushsender1", "keys generate sender radio", "keys passphrase --new-passphrase-file pass",
        "keys passphrase --clear --yes",
        "authority init authority", "authority sign authority newsroom --topic com.example.app",
        "authority show newsroom", "trust list", "trust add newsroom --topic com.example.app",
        "trust remove newsroom --topic com.example.app",
        "seal content.json --from newsroom --to alice-phone --topic com.example.app",
        "seal content.json --anonymous --to alice-phone --topic com.example.app",
        "seal content.json --anonymous --unverified --to alice-phone --topic com.example.app",
        "open content.json --device alice-phone --topic com.example.app",
        "open content.json --device alice-phone --trust newsroom --topic com.example.app",
        "doctor content.json --device alice-phone --topic com.example.app",
        "device enroll alice-phone --token ab12",
        "device enroll alice-phone --token ab12 --unverified --topic com.example.app",
        "send content.json --all --queue-only --from newsroom --topic com.example.app --outbox made.sqlite",
        "receipts listen --from newsroom --port 0", "receipts show --devices --from newsroom --outbox made.sqlite",
        "serve --from newsroom --topic com.example.app --socket own.sock --outbox made.sqlite",
        "outbox status --outbox made.sqlite", "keys retire newsroom", "keys erase alice-phone --yes",
        "keys restore old.backup --backup-passphrase-file pass",
    ]

    @Test("is refused by every command that reads it, with one status, and the doctor names what is missing")
    func reading() throws {
        try folder.write(
            #"{"device":"bob-phone","token":"ab12","key":"\#(stranger)"}"# + "\n", to: "list.jsonl")
        let made = try run("device enroll --list list.jsonl --unverified --topic com.example.app --outbox made.sqlite")
        #expect(made.status == 0, "\(made.errors)")
        let kept = try run(
            "keys backup old.backup --backup-passphrase-file pass", ["--passphrase-file", "pass"])
        #expect(kept.status == 0, "\(kept.errors)")
        try strip()
        let sender = try Keyring(folder: folder.appending("Evil")).sender(named: "newsroom").description
        for words in Self.reads {
            let result = try run(words.replacing("pushsender1", with: sender))
            #expect(result.status == 77, "\(words): \(result.status) \(result.output)\(result.errors)")
            #expect(result.errors.contains("keyring.txt is missing"), "\(words): \(result.errors)")
            #expect(result.output.isEmpty, "\(words): \(result.output)")
        }
        let doctor = try run("keys doctor")
        #expect(doctor.status == 1 && doctor.output.contains("(seal-missing)"), "\(doctor.output)")
        for words in [["deliver", "content.json"], ["run", "--apns", "APNs", "--state", "State"]] {
            let device = ["--device", "alice-phone", "--topic", "com.example.app", "--keyring", "Server"]
            let result = try Program("device-simulator", in: folder.url).run(words + device)
            #expect(result.status != 0 && result.errors.contains("keyring.txt is missing"), "\(result.errors)")
        }
    }

    @Test("a whole folder in its place is refused by whoever has used it, or demands that it be sealed")
    func replaced() throws {
        let state = ["XDG_STATE_HOME": folder.appending("state").path]
        #expect(try run("trust list", ["--passphrase-file", "pass"], environment: state).status == 0)
        try FileManager.default.removeItem(at: folder.appending("Server"))
        try FileManager.default.copyItem(at: folder.appending("Evil"), to: folder.appending("Server"))
        let seal = "seal content.json --from newsroom --to alice-phone --topic com.example.app"
        for words in ["keys list", seal, "device enroll alice-phone --token ab12"] {
            let noted = try run(words, environment: state)
            #expect(noted.status == 77 && noted.errors.contains("was sealed when it was last used"), "\(noted.errors)")
            for (more, environment) in [(["--sealed"], [:]), ([], ["SEALED_PUSH_SEALED": "1"])] {
                let demanded = try run(words, more, environment: environment)
                #expect(demanded.status == 77 && demanded.errors.contains("is not sealed"), "\(demanded.errors)")
            }
        }
        let doctor = try run("keys doctor", environment: state)
        #expect(doctor.status == 1 && doctor.output.contains("(seal-changed)"), "\(doctor.output)")
        // The hint as it stands, typed.
        let hint = try #require(
            try run("keys list", environment: state).errors.firstMatch(of: /`(rm '[^']+')`/)?.output.1)
        #expect(try Program(at: "/bin/sh").run("-c", String(hint)).status == 0)
        let accepted = try run(seal, environment: state)
        #expect(accepted.status == 0, "\(accepted.errors)")
        // Whoever goes on without a seal is told who chooses the keys.
        #expect(accepted.errors.contains("Server is not sealed") && accepted.errors.contains("chooses the keys"))
    }

    @Test("is noted in the home folder where another place for notes is no absolute path")
    func places() throws {
        let files = FileManager.default
        for place in ["state", ""] {
            let home = folder.appending("home-\(place)")
            let environment = ["XDG_STATE_HOME": place, "HOME": home.path]
            #expect(try run("trust list", ["--passphrase-file", "pass"], environment: environment).status == 0)
            let notes = home.appending(path: ".local/state/sealedpush")
            #expect(try files.contentsOfDirectory(atPath: notes.path).count == 1)
        }
        #expect(!files.fileExists(atPath: folder.appending("state").path))
    }

    @Test("wherever a recipient or a sender is chosen from one without a seal, that is said, once")
    func warned() throws {
        let commands = [
            "seal content.json --from newsroom --to alice-phone --topic com.example.app",
            "seal content.json --anonymous --to alice-phone --topic com.example.app",
            "device enroll alice-phone --token ab12 --outbox warned.sqlite",
            "send content.json --all --queue-only --from newsroom --topic com.example.app --outbox warned.sqlite",
            "keys confirm alice-phone --from newsroom", "trust add newsroom --topic com.example.app",
            "keys generate sender radio",
        ]
        for words in commands {
            let result = try program.run(words.split(separator: " ").map(String.init) + ["--keyring", "Evil"])
            // Its key is proven already; the sender was chosen all the same.
            let status: Int32 = words.hasPrefix("keys confirm") ? 65 : 0
            #expect(result.status == status, "\(words): \(result.errors)")
            #expect(result.errors.components(separatedBy: "is not sealed").count == 2, "\(words): \(result.errors)")
        }
    }
}
