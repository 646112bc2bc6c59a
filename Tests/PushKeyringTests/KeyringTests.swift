import Dispatch
import Foundation
import PushKeyring
import SealedPush
import TestSupport
import Testing

@testable import PushCore

@Suite("The keyring") struct KeyringTests {
    private let folder: TemporaryFolder
    private let phone: KeyName = "alice-phone"
    private let newsroom: KeyName = "newsroom"

    init() throws { folder = try TemporaryFolder() }

    private var keyring: Keyring { Keyring(folder: folder.appending("Keys")) }

    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(
            atPath: folder.appending("Keys").appending(path: path).path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    @Test("a generated key is read back with its secret") func roundTrip() throws {
        let recipient = try keyring.generateDevice(named: phone)
        let sender = try keyring.generateSender(named: newsroom)
        let authority = try keyring.generateAuthority(named: "offline")
        #expect(try keyring.deviceKeys(named: phone).map(\.identity.recipient) == [recipient])
        #expect(try keyring.senderKey(named: newsroom).sender == sender)
        let entries = try keyring.entries().keys
        #expect(entries.map(\.name) == [phone, newsroom, "offline"])
        #expect(entries.map(\.key) == [.device(recipient), .sender(sender), .authority(authority)])
        #expect(entries.allSatisfy { $0.isOwn && $0.current.hasSecret })
        #expect(entries.allSatisfy { abs($0.created.seconds(since: .now())) < 60 })
    }

    @Test("Without a library for hybrid keys, none is generated") func hybrid() throws {
        MLKEM768.$isHidden.withValue(true) {
            #expect(throws: KeyringError.unsupported) { try keyring.generateDevice(named: phone, policy: .hybrid) }
        }
        #expect(try keyring.generateDevice(named: phone, policy: .hybrid).description.hasPrefix("pushpq"))
    }

    @Test("A keyring is four files that only their owner can read, and git ignores its secrets") func modes() throws {
        try keyring.generateDevice(named: phone)
        let names = try FileManager.default.contentsOfDirectory(atPath: keyring.folder.path).sorted()
        #expect(names == [".gitignore", "audit.jsonl", "keyring.txt", "lock"])
        for name in names { #expect(try mode(name) == 0o600, "\(name)") }
        let ignored = try Checkout.text(folder.appending("Keys/.gitignore")).split(separator: "\n")
        #expect(["keyring.txt", "audit.jsonl", "lock", "tmp.*"].allSatisfy { ignored.contains(Substring($0)) })
    }

    @Test("no key is ever overwritten, whatever kind is added") func noOverwriting() throws {
        let recipient = try keyring.generateDevice(named: phone)
        #expect(throws: KeyringError.exists(phone)) { try keyring.generateDevice(named: phone) }
        #expect(throws: KeyringError.exists(phone)) { try keyring.generateSender(named: phone) }
        #expect(throws: KeyringError.exists(phone)) { try keyring.add(.device(recipient), named: phone) }
        try keyring.generateSender(named: newsroom)
        #expect(try keyring.deviceKeys(named: phone).map(\.identity.recipient) == [recipient])
    }

    @Test("if many threads generate the same name, one succeeds and its key is intact") func race() throws {
        let made = Collected<DevicePublicKey>()
        DispatchQueue.concurrentPerform(iterations: 12) { _ in
            if let recipient = try? keyring.generateDevice(named: phone) { made.add(recipient) }
        }
        #expect(made.all.count == 1)
        #expect(try keyring.deviceKeys(named: phone).map(\.identity.recipient) == made.all)
    }

    @Test("The next change removes the leftovers of a killed process, and restores a missing .gitignore")
    func leftovers() throws {
        try keyring.generateDevice(named: phone)
        let ignored = folder.appending("Keys/.gitignore")
        try FileManager.default.removeItem(at: ignored)
        try Data("PUSH-SECRET-KEY-1".utf8).write(to: folder.appending("Keys/tmp.old"))
        #expect(try keyring.entries().keys.map(\.name) == [phone])
        try keyring.generateSender(named: newsroom)
        #expect(!FileManager.default.fileExists(atPath: folder.appending("Keys/tmp.old").path))
        #expect(FileManager.default.fileExists(atPath: ignored.path))
    }

    @Test("Links in place of the keyring's files are rejected") func links() throws {
        try keyring.generateDevice(named: phone)
        for name in ["keyring.txt", "lock", "audit.jsonl"] {
            let file = folder.appending("Keys").appending(path: name)
            let moved = folder.appending("moved")
            try FileManager.default.moveItem(at: file, to: moved)
            try FileManager.default.createSymbolicLink(at: file, withDestinationURL: moved)
            #expect(throws: KeyringError.self, "\(name)") { try keyring.generateSender(named: newsroom) }
            try FileManager.default.removeItem(at: file)
            try FileManager.default.moveItem(at: moved, to: file)
        }
        #expect(try keyring.entries().keys.map(\.name) == [phone])
    }

    @Test("Readers don't need a lock or write permission") func readers() throws {
        let sender = try keyring.generateSender(named: newsroom)
        let lock = open(folder.appending("Keys/lock").path, O_RDWR)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX) == 0)
        #expect(try keyring.senderKey(named: newsroom).sender == sender)
        // A copy without a lock, as on a read-only file system.
        try FileManager.default.createDirectory(at: folder.appending("Copy"), withIntermediateDirectories: false)
        try FileManager.default.copyItem(
            at: folder.appending("Keys/keyring.txt"), to: folder.appending("Copy/keyring.txt"))
        let copy = Keyring(folder: folder.appending("Copy"))
        #expect(try copy.senderKey(named: newsroom).sender == sender)
        #expect(try FileManager.default.contentsOfDirectory(atPath: copy.folder.path) == ["keyring.txt"])
    }

    @Test("another owner's public key is stored without a secret, and a device's key is unverified")
    func imported() throws {
        let recipient = DevicePrivateKey().recipient
        try keyring.add(.device(recipient), named: phone)
        #expect(try keyring.entry(named: phone).isOwn == false)
        #expect(throws: KeyringError.noSecret(phone)) { try keyring.deviceKeys(named: phone) }
        #expect(throws: KeyringError.notFound(newsroom)) { try keyring.senderKey(named: newsroom) }
        #expect(throws: KeyringError.unverified(phone)) { try keyring.recipient(named: phone) }
        #expect(try keyring.unverifiedRecipient(named: phone) == recipient)
        #expect(throws: KeyringError.wrongKind(phone, expected: .sender)) { try keyring.sender(named: phone) }
    }

    @Test(
        "An unsealed keyring with any changed bit or other length is rejected, and no error repeats a secret"
    ) func damaged() async throws {
        try keyring.generateDevice(named: phone)
        let file = folder.appending("Keys/keyring.txt")
        let good = try [UInt8](Data(contentsOf: file))
        let damages =
            damages(of: good, bitCount: 150, cutCount: 60) + [good + [10], good + good, [10], Array("secret".utf8)]
        for damage in damages {
            await Task.yield()
            try Data(damage).write(to: file)
            let error = #expect(throws: KeyringError.damaged(file)) { try keyring.deviceKeys(named: phone) }
            #expect(error.map { !"\($0)".uppercased().contains("SECRET-KEY") } == true)
            #expect(throws: KeyringError.damaged(file)) { try keyring.rotate(phone) }
            #expect(throws: KeyringError.damaged(file)) { try keyring.entries() }
        }
        try Data(good).write(to: file)
        #expect(try keyring.deviceKeys(named: phone).count == 1)
    }

    @Test("A secret that was put beside another public key, with a valid checksum, is not used")
    func foreignSecret() throws {
        try keyring.generateSender(named: newsroom)
        try keyring.generateSender(named: "weather")
        let file = folder.appending("Keys/keyring.txt")
        let text = try Checkout.text(file)
        let secrets = text.matches(of: /secret: (\S+)/).map { String($0.output.1) }
        let body = text.replacing(secrets[0], with: secrets[1]).prefix { _ in true }.split(separator: "checksum: ")[0]
        let sum = Base64URL.encode(BLAKE2b.hash(Array(body.utf8), byteCount: 32))
        try Data((body + "checksum: \(sum)\n").utf8).write(to: file)
        #expect(throws: KeyringError.self) { try keyring.senderKey(named: newsroom) }
        #expect(try keyring.examine().contains { $0.code == "inconsistent" })
    }

    @Test("lines that a later version added to a name or a key are kept") func laterLines() throws {
        try keyring.generateSender(named: newsroom)
        let file = folder.appending("Keys/keyring.txt")
        let text = try Checkout.text(file).replacing("\nstate: active\n", with: "\nstate: active\nstored-in: a safe\n")
            .replacing("\nkind: sender\n", with: "\nkind: sender\nnote: for news\n")
        let body = text.split(separator: "checksum: ")[0]
        let sum = Base64URL.encode(BLAKE2b.hash(Array(body.utf8), byteCount: 32))
        try Data((body + "checksum: \(sum)\n").utf8).write(to: file)
        try keyring.rotate(newsroom)
        try keyring.seal(with: .key(KeyringKey()))
        let kept = try Checkout.text(file)
        #expect(kept.contains("\nkind: sender\n") && kept.contains("\nnote: for news\n"))
        #expect(kept.matches(of: /\nstored-in: a safe\n/).count == 1)
    }

    @Test("A file of more than 16 MiB is rejected without being read") func huge() throws {
        try keyring.generateDevice(named: phone)
        let file = folder.appending("Keys/keyring.txt")
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 1 << 40)
        #expect(throws: KeyringError.self) { try keyring.deviceKeys(named: phone) }
        #expect(throws: KeyringError.self) { try keyring.rotate(phone) }
    }

    @Test("a name can't leave the folder", arguments: ["", ".", "..", "../x", "a/b", "-x", ".x", "é", "a b", "a\0"])
    func names(text: String) {
        #expect(KeyName(parsing: text) == nil)
    }

    @Test("an imported secret key is added, and shown only on explicit request")
    func secrets() throws {
        let key = SenderPrivateKey()
        var text = key.withSecretText { [UInt8]($0) }
        #expect(try keyring.add(secretText: text, named: newsroom) == .sender(key.sender))
        #expect(try keyring.withSecretText(of: newsroom) { [UInt8]($0) } == text)
        text[40] ^= 1
        #expect(try keyring.add(secretText: text, named: phone) == nil)
        #expect(throws: KeyringError.notFound(phone)) { try keyring.entry(named: phone) }
        #expect(try Checkout.text(folder.appending("Keys/audit.jsonl")).contains("exported-secret"))
    }
}
