import Foundation
import PushKeyring
import SealedPush
import TestSupport
import Testing

/// Somebody who may write the folder, and knows no secret, puts things into it.
@Suite("What is planted in a keyring's folder")
struct PlantedFilesTests {
    private let folder: TemporaryFolder
    private let key = KeyringKey()

    init() throws {
        folder = try TemporaryFolder()
        try keyring.generateSender(named: "newsroom")
        try FileManager.default.createDirectory(at: victim, withIntermediateDirectories: true)
        try Data("precious".utf8).write(to: victim.appending(path: "file.txt"))
        try Data("tmp".utf8).write(to: victim.appending(path: "tmp.file"))
    }

    private var keyring: Keyring { Keyring(folder: folder.appending("Keys"), unlocking: .given(.key(key))) }
    private var victim: URL { folder.appending("Victim") }
    private func place(_ path: String) -> URL { folder.appending("Keys").appending(path: path) }

    private func link(_ path: String, to target: URL) throws {
        try? FileManager.default.removeItem(at: place(path))
        try FileManager.default.createSymbolicLink(at: place(path), withDestinationURL: target)
    }

    private func stage(_ path: String, _ text: String) throws {
        let file = place("changing").appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    /// Every change is refused with an error that names the thing, and nothing outside is touched.
    private func expectRefused(_ name: String, line: Int = #line) throws {
        let error = #expect(throws: KeyringError.self, "line \(line)") { try keyring.generateSender(named: "other") }
        #expect(error.map { "\($0)".contains(name) } == true, "line \(line): \(String(describing: error))")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: victim.path).sorted() == ["file.txt", "tmp.file"],
            "line \(line)")
        #expect(try Checkout.text(victim.appending(path: "file.txt")) == "precious", "line \(line)")
    }

    @Test("moves, overwrites and removes nothing outside", arguments: ["public", "private"])
    func folders(name: String) throws {
        try FileManager.default.moveItem(at: place(name), to: folder.appending("Away"))
        try link(name, to: victim)
        try stage("\(name)/file.txt", "EVIL")
        try stage("\(name)/newsroom.txt", "")
        try expectRefused(name)
    }

    @Test("is not taken for a change of the keyring's own")
    func changes() throws {
        try link("changing", to: victim)
        try expectRefused("changing")
        try FileManager.default.removeItem(at: place("changing"))
        try FileManager.default.createDirectory(at: place("changing"), withIntermediateDirectories: true)
        try link("changing/public", to: victim)
        try expectRefused("public")
        for (path, text) in [("evil.sh", "x"), ("public/.ssh", "x"), ("private/a b.txt", "x"), ("lock", "")] {
            try FileManager.default.removeItem(at: place("changing"))
            try stage(path, text)
            try expectRefused(String(path.split(separator: "/").last ?? ""))
        }
        try FileManager.default.removeItem(at: place("changing"))
        try stage("public/x.txt/a", "x")
        try expectRefused("x.txt")
        try FileManager.default.removeItem(at: place("changing"))
        try keyring.generateSender(named: "other")
    }

    @Test("is not written through: neither the audit log nor the lock is a link")
    func links() throws {
        try link("audit.jsonl", to: victim.appending(path: "file.txt"))
        try expectRefused("audit.jsonl")
        try FileManager.default.removeItem(at: place("audit.jsonl"))
        try link("lock", to: victim.appending(path: "new"))
        try expectRefused("lock")
    }

    @Test("in a key's place is believed by nothing that hangs on it")
    func publicKeys() throws {
        try keyring.add(.sender(SenderKey().sender), named: "partner")
        let file = place("public/partner.txt")
        let text = try Checkout.text(file).replacing(/pushsender1\w+/, with: SenderKey().sender.description)
        try Data(text.utf8).write(to: file)
        #expect(throws: KeyringError.altered(file)) { try keyring.authenticEntry(named: "partner") }
        #expect(throws: KeyringError.altered(file)) { try keyring.sender(named: "partner") }
    }

    @Test("moves no cursor in an error")
    func names() throws {
        try stage("public/\u{1b}[31mEVIL\nall good.txt", "x")
        let error = #expect(throws: KeyringError.self) { try keyring.generateSender(named: "other") }
        #expect(error.map { "\($0)".unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f } } == true)
    }
}
