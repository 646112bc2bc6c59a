import Foundation
import Glibc
import PushKeyring
import TestPrograms
import TestSupport
import Testing

/// `setup --in`. ``PackageSetupTests`` has the package's layout, and ``StartTests`` what a container does.
@Suite("setup", .blocking) struct SetupTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ words: String...) throws -> Program.Result {
        try Program("sealedpush", in: folder.url).run(["setup", "--in", "Push"] + words)
    }

    /// Sets up the folder `Push`.
    private func setUp() throws {
        let result = try run("--topic", "com.example.app")
        try #require(result.status == 0, "\(result.errors)")
    }

    /// Every file in the folder, with its mode and content.
    private func files() throws -> [String: String] {
        try Dictionary(
            uniqueKeysWithValues: TemporaryFolder.everything(in: folder.appending("Push")).map { file in
                let facts = try FileManager.default.attributesOfItem(atPath: file.path)
                let isFile = facts[.type] as? FileAttributeType == .typeRegular
                let bytes = isFile ? try Data(contentsOf: file) : Data()
                return (file.path, "\(facts[.posixPermissions] ?? 0) \(bytes.base64EncodedString())")
            })
    }

    private func remove(_ paths: String...) throws {
        for path in paths { try FileManager.default.removeItem(at: folder.appending("Push/\(path)")) }
    }

    @Test("creates keys and settings that only this user can open, and shows the public key, but no secret")
    func fresh() throws {
        let result = try run("--topic", "com.example.app")
        #expect(result.status == 0, "\(result.errors)")
        let modes = ["", "Keys", "secrets", "outbox", "apple"].map { ($0, 0o700) }
        let secrets = ["Keys/keyring.txt", "secrets/unlock.key", "secrets/outbox.key", "secrets/token"]
        for (path, mode) in modes + secrets.map({ ($0, 0o600) }) {
            let facts = try FileManager.default.attributesOfItem(atPath: folder.appending("Push/\(path)").path)
            #expect(facts[.posixPermissions] as? Int == mode, "\(path)")
        }
        for path in secrets {
            let text = try Checkout.text(folder.appending("Push/\(path)"))
            for word in text.split(whereSeparator: \.isWhitespace)
            where word.count >= 40 && !word.hasPrefix("pushsender1") {
                #expect(!(result.output + result.errors).contains(word), "\(path)")
            }
        }
        let exported = try Program("sealedpush", in: folder.url).run(
            "keys", "export", "newsroom", "--keyring", "Push/Keys", "--unlock", "Push/secrets/unlock.key")
        #expect(exported.status == 0 && exported.output.hasPrefix("pushsender1"), "\(exported.errors)")
        #expect(result.output.contains(exported.trimmed))
        #expect(result.output.split(separator: "\n").count { $0.contains("▄") } >= 15)
        #expect(result.output.contains("1. Install Apple's key") && result.output.contains("sealedpush start --in"))
        let settings = try Checkout.text(folder.appending("Push/sealed-push.env"))
        #expect(settings.contains("\nSENDER=newsroom\nTOPIC=com.example.app\n"), "\(settings)")
    }

    @Test("changes nothing if everything is there, and says so") func second() throws {
        try setUp()
        let before = try files()
        #expect(before.count >= 12)
        let again = try run()
        #expect(again.status == 0 && again.errors.isEmpty, "\(again.errors)")
        #expect(again.output.contains("existing") && !again.output.contains("created") && !again.output.contains("▄"))
        #expect(try files() == before)
    }

    @Test("adds only what is missing", arguments: ["secrets/token", "secrets/outbox.key", "sealed-push.env", "apple"])
    func missing(path: String) throws {
        try setUp()
        let before = try files()
        try remove(path)
        let again = try run("--topic", "com.example.app", "--json")
        #expect(again.status == 0, "\(again.errors)")
        let created = again.objects.first?["created"] as? [String]
        #expect(created == (path == "apple" ? [] : [folder.appending("Push/\(path)").path]), "\(again.output)")
        let after = try files()
        #expect(after.keys == before.keys)
        let place = folder.appending("Push/\(path)").path
        #expect(after.filter { $0.key != place } == before.filter { $0.key != place })
    }

    @Test(
        "refuses to replace a key that was lost, and changes nothing",
        arguments: [
            ["secrets/unlock.key"], ["Keys"], ["secrets/outbox.key"], ["Keys", "secrets/unlock.key"],
            ["Keys", "secrets", "sealed-push.env"],
        ])
    func half(lost: [String]) throws {
        try setUp()
        // Stands for an outbox with phones.
        try folder.write("SQLite format 3", to: "Push/outbox/outbox.sqlite")
        for path in lost { try remove(path) }
        let before = try files()
        let again = try run("--topic", "com.example.app")
        #expect(again.status == 77 && again.output.isEmpty, "\(again.status) \(again.output)")
        #expect(again.errors.contains("nothing was changed") && again.errors.contains("restore"), "\(again.errors)")
        #expect(try files() == before)
    }

    @Test("doesn't change settings that have other values")
    func otherSettings() throws {
        try setUp()
        let before = try files()
        for (words, name) in [(["--topic", "com.example.other"], "TOPIC="), (["--sender", "weather"], "SENDER=")] {
            let result = try Program("sealedpush", in: folder.url).run(["setup", "--in", "Push"] + words)
            #expect(result.status == 65 && result.errors.contains("already has \(name)"), "\(result.errors)")
        }
        #expect(try files() == before)
        try remove("sealed-push.env")
        let other = try run("--topic", "com.example.app", "--sender", "weather")
        #expect(other.status == 65 && other.errors.contains("has no sender weather"), "\(other.errors)")
    }

    @Test("refuses a key file that doesn't open the keyring") func wrongKey() throws {
        try setUp()
        let key = KeyringKey().withText { String(decoding: $0, as: UTF8.self) }
        try remove("secrets/unlock.key")
        try folder.write(key + "\n", to: "Push/secrets/unlock.key")
        chmod(folder.appending("Push/secrets/unlock.key").path, 0o600)
        let before = try files()
        let result = try run()
        #expect(result.status == 77 && !result.errors.contains(key.dropFirst(20)), "\(result.errors)")
        #expect(try files() == before)
    }

    @Test("refuses a folder that other users can write to, and says so of one that it can't create")
    func unusable() throws {
        mkdir(folder.appending("Push").path, 0o700)
        chmod(folder.appending("Push").path, 0o777)
        let shared = try run("--topic", "com.example.app")
        #expect(shared.status == 77 && shared.errors.contains("chmod go-w"), "\(shared.errors)")
        #expect(try files().count <= 1)
        try folder.write("", to: "file")
        let program = Program("sealedpush", in: folder.url)
        let below = try program.run("setup", "--in", "file/Push", "--topic", "com.example.app")
        #expect(below.status == 74 && below.errors.contains("can't be created: Not a directory"), "\(below.errors)")
        let file = try program.run("setup", "--in", "file", "--topic", "com.example.app")
        #expect(file.status == 74 && file.errors.contains("isn't a folder"), "\(file.errors)")
        let place = try program.run("setup", "--in", "user:pw@host", "--topic", "com.example.app")
        #expect(place.status == 64 && !place.errors.contains("pw@"), "\(place.errors)")
    }

    @Test(
        "as another user, says who owns the folder",
        .enabled(if: Machine.hasOtherUsers, "It needs other users: run it as root."))
    func otherUser() throws {
        chmod(folder.path, 0o755)
        let words = [
            "--reuid", "1500", "--regid", "1500", "--clear-groups", Program("sealedpush").executable.path, "setup",
            "--in", "Push", "--topic", "com.example.app",
        ]
        let unwritable = try Program(at: "/usr/bin/setpriv", in: folder.url).run(words)
        #expect(
            unwritable.status == 74 && unwritable.errors.contains("can't be created: Permission denied"),
            "\(unwritable.errors)")
        mkdir(folder.appending("Push").path, 0o755)
        let foreign = try Program(at: "/usr/bin/setpriv", in: folder.url).run(words)
        #expect(foreign.status == 77 && foreign.errors.contains("belongs to user 0"), "\(foreign.errors)")
        #expect(foreign.errors.contains("runs as user 1500"))
    }

    @Test("prints one JSON object with --json") func json() throws {
        let result = try run("--topic", "com.example.app", "--json")
        #expect(result.output.split(separator: "\n").count == 1)
        let object = try #require(result.objects.first)
        #expect(object["newSender"] as? Bool == true && object["name"] as? String == "newsroom")
        #expect(object["topic"] as? String == "com.example.app")
        #expect((object["sender"] as? String)?.hasPrefix("pushsender1") == true)
        #expect((object["created"] as? [String])?.count == 5 && (object["existing"] as? [String])?.isEmpty == true)
        let again = try #require(try run("--json").objects.first)
        #expect(again["newSender"] as? Bool == false && again["sender"] as? String == object["sender"] as? String)
        #expect((again["created"] as? [String])?.isEmpty == true && (again["existing"] as? [String])?.count == 5)
    }

    @Test("asks for the bundle ID at a terminal, only if it isn't known, and fails without a terminal")
    func asking() throws {
        let words = ["setup", "--in", folder.appending("Push").path]
        let question = "The app's bundle ID, such as com.example.app: "
        let wrong = try PseudoTerminal.run(words, answers: [(question, "com example")])
        #expect(wrong.status == 64 && wrong.screen.contains("a bundle ID has"), "\(wrong.screen)")
        let asked = try PseudoTerminal.run(words, answers: [(question, "com.example.app")])
        #expect(asked.status == 0 && asked.screen.contains("pushsender1"), "\(asked.screen)")
        let known = try PseudoTerminal.run(words, [])
        #expect(known.status == 0 && !known.screen.contains("bundle ID"), "\(known.screen)")
        let silent = try Program(at: "/usr/bin/setsid", in: folder.url).run(
            "--wait", Program("sealedpush").executable.path, "setup", "--in", "New")
        #expect(silent.status == 64 && silent.errors.contains("use --topic"), "\(silent.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.appending("New").path))
    }

    @Test("installs Apple's key once, and doesn't replace it with another") func appleKey() throws {
        for name in ["one.p8", "two.p8"] {
            let made = try Program(at: "/usr/bin/openssl", in: folder.url).run(
                "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", name)
            #expect(made.status == 0, "\(made.errors)")
            chmod(folder.appending(name).path, 0o600)
        }
        try setUp()
        let installed = try run("--provider-key", "ABCDE12345,FGHIJ67890,one.p8")
        #expect(installed.status == 0 && !installed.output.contains("Install Apple's key"), "\(installed.errors)")
        let settings = try Checkout.text(folder.appending("Push/sealed-push.env"))
        #expect(settings.hasSuffix("\nAPNS_KEY=ABCDE12345,FGHIJ67890\n"), "\(settings)")
        let key = folder.appending("Push/apple/apns.p8")
        #expect(try Data(contentsOf: key) == Data(contentsOf: folder.appending("one.p8")))
        #expect(try FileManager.default.attributesOfItem(atPath: key.path)[.posixPermissions] as? Int == 0o600)
        let before = try files()
        for (value, status) in [
            ("ABCDE12345,FGHIJ67890,one.p8", 0), ("ABCDE12345,FGHIJ67890,two.p8", 74),
            ("ZZZZZ12345,FGHIJ67890,one.p8", 65), ("ABCDE12345,FGHIJ67890,none.p8", 74),
        ] as [(String, Int32)] {
            let result = try run("--provider-key", value)
            #expect(result.status == status, "\(value): \(result.status) \(result.errors)")
            #expect(try files() == before, "\(value)")
        }
    }
}

extension TemporaryFolder {
    /// Returns a folder, and every file and folder below it.
    static func everything(in folder: URL) throws -> [URL] {
        try [folder]
            + FileManager.default.subpathsOfDirectory(atPath: folder.path).map { folder.appending(path: $0) }
    }
}
