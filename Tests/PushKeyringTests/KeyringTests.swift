import Dispatch
import Foundation
import PushKeyring
import SealedPush
import TestSupport
import Testing

@Suite("The keyring")
struct KeyringTests {
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

    @Test("what is generated comes back, with its secret")
    func roundTrip() throws {
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

    @Test("private files have mode 0600, in a folder of mode 0700 that git ignores")
    func modes() throws {
        try keyring.generateDevice(named: phone)
        #expect(try mode("private") == 0o700)
        #expect(try mode("private/alice-phone.txt") == 0o600)
        #expect(try mode("audit.jsonl") == 0o600)
        #expect(try Checkout.text(folder.appending("Keys/private/.gitignore")) == "*\n")
        try keyring.add(.device(Identity().recipient), named: "bob")
        #expect(try mode("public/bob.txt") == 0o644)
    }

    @Test("nothing is ever overwritten, whatever kind is asked for")
    func noOverwriting() throws {
        let recipient = try keyring.generateDevice(named: phone)
        #expect(throws: KeyringError.exists(phone)) { try keyring.generateDevice(named: phone) }
        #expect(throws: KeyringError.exists(phone)) { try keyring.generateSender(named: phone) }
        #expect(throws: KeyringError.exists(phone)) { try keyring.add(.device(recipient), named: phone) }
        try keyring.generateSender(named: newsroom)
        #expect(throws: KeyringError.exists(phone)) { try keyring.rename(newsroom, to: phone) }
        let link = folder.appending("Keys/public/bob.txt")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "/does/not/exist")
        #expect(throws: KeyringError.exists("bob")) { try keyring.generateDevice(named: "bob") }
        #expect(try keyring.deviceKeys(named: phone).map(\.identity.recipient) == [recipient])
    }

    @Test("of many threads that generate one name, one succeeds and its key is whole")
    func race() throws {
        let made = Collected<Recipient>()
        DispatchQueue.concurrentPerform(iterations: 12) { _ in
            if let recipient = try? keyring.generateDevice(named: phone) { made.add(recipient) }
        }
        #expect(made.all.count == 1)
        #expect(try keyring.deviceKeys(named: phone).map(\.identity.recipient) == made.all)
    }

    @Test("generating and adding one name at once never mixes two keys")
    func mixedRace() throws {
        for round in 0..<40 {
            let name = try #require(KeyName(parsing: "n\(round)"))
            let other = Identity().recipient
            DispatchQueue.concurrentPerform(iterations: 2) { thread in
                if thread == 0 { _ = try? keyring.generateDevice(named: name) }
                if thread == 1 { try? keyring.add(.device(other), named: name) }
            }
            let entry = try keyring.entry(named: name)
            #expect(entry.isOwn != (entry.key == .device(other)))
            #expect(try keyring.entries().keys.filter { $0.name == name }.count == 1)
        }
    }

    @Test("what a killed process has left is removed by the next change")
    func leftovers() throws {
        try keyring.generateDevice(named: phone)
        let unfinished = folder.appending("Keys/changing.123/private")
        try FileManager.default.createDirectory(at: unfinished, withIntermediateDirectories: true)
        try Data("PUSH-SECRET-KEY-1".utf8).write(to: unfinished.appending(path: "bob.txt"))
        try Data("*".utf8).write(to: folder.appending("Keys/private/tmp.old"))
        #expect(try keyring.entries().keys.map(\.name) == [phone])
        try keyring.generateSender(named: newsroom)
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.appending("Keys").path)
        #expect(!names.contains { $0.contains("changing") || $0.contains("tmp.") })
    }

    @Test("a change that was committed and not finished is read, and then finished")
    func unfinished() throws {
        let recipient = try keyring.generateDevice(named: phone)
        let sender = try keyring.generateSender(named: newsroom)
        // As a process leaves it that was killed right after the rename: one key came, another went.
        let change = folder.appending("Keys/changing")
        for subfolder in ["private", "public"] {
            try FileManager.default.createDirectory(
                at: change.appending(path: subfolder), withIntermediateDirectories: true)
        }
        let text = try Checkout.text(folder.appending("Keys/private/newsroom.txt"))
        try Data(text.utf8).write(to: change.appending(path: "private/renamed.txt"))
        try Data().write(to: change.appending(path: "private/newsroom.txt"))
        #expect(try keyring.entries().keys.map(\.name) == [phone, "renamed"])
        #expect(throws: KeyringError.notFound(newsroom)) { try keyring.senderKey(named: newsroom) }
        #expect(try keyring.senderKey(named: "renamed").sender == sender)
        #expect(throws: KeyringError.exists("renamed")) { try keyring.generateSender(named: "renamed") }
        #expect(!FileManager.default.fileExists(atPath: change.path))
        #expect(try keyring.senderKey(named: "renamed").sender == sender)
        #expect(try keyring.deviceKeys(named: phone).map(\.identity.recipient) == [recipient])
    }

    @Test("a public key of somebody else is kept without a secret, and nobody vouches for a device's")
    func imported() throws {
        let recipient = Identity().recipient
        try keyring.add(.device(recipient), named: phone)
        #expect(try keyring.entry(named: phone).isOwn == false)
        #expect(throws: KeyringError.noSecret(phone)) { try keyring.deviceKeys(named: phone) }
        #expect(throws: KeyringError.notFound(newsroom)) { try keyring.senderKey(named: newsroom) }
        #expect(throws: KeyringError.unverified(phone)) { try keyring.recipient(named: phone) }
        #expect(try keyring.unverifiedRecipient(named: phone) == recipient)
        #expect(throws: KeyringError.wrongKind(phone, expected: .sender)) { try keyring.sender(named: phone) }
    }

    @Test("a damaged file is named, never trusted, and the others still work")
    func damaged() throws {
        try keyring.generateDevice(named: phone)
        let sender = try keyring.generateSender(named: newsroom)
        let file = folder.appending("Keys/private/alice-phone.txt")
        let text = try Checkout.text(file)
        var damages = [
            "\n", "secret", text + text, text.replacingOccurrences(of: "kind: device", with: "kind: sender"),
            text.replacingOccurrences(of: "created", with: "made"), text + "note: x\n",
            String(repeating: "#", count: 300_000), text.lowercased(), text + "\npublic: x\n",
            text.replacingOccurrences(of: "state: active", with: "state: retired"),
            text.replacing(/public: push1\w+/, with: "public: \(Identity().recipient)"),
        ]
        for length in stride(from: 1, to: text.count - 1, by: 7) { damages.append(String(text.prefix(length))) }
        for damage in damages {
            try Data(damage.utf8).write(to: file)
            #expect(throws: KeyringError.self, "\(damage)") { try keyring.deviceKeys(named: phone) }
            #expect(try keyring.senderKey(named: newsroom).sender == sender)
        }
        let (keys, errors) = try keyring.entries()
        #expect(keys.map(\.name) == [newsroom])
        #expect(errors == [.damaged(file)])
    }

    @Test("a huge file is refused without being read")
    func huge() throws {
        try keyring.generateDevice(named: phone)
        let file = folder.appending("Keys/private/alice-phone.txt")
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 100 << 20)
        #expect(throws: KeyringError.damaged(file)) { try keyring.deviceKeys(named: phone) }
        #expect(throws: KeyringError.damaged(file)) { try keyring.rotate(phone) }
    }

    @Test("an error never holds what a private file holds")
    func quietErrors() throws {
        try keyring.generateDevice(named: phone)
        let file = folder.appending("Keys/private/alice-phone.txt")
        let damaged = try Checkout.text(file).replacingOccurrences(of: "KEY-1", with: "KEY-1Q")
        try Data(damaged.utf8).write(to: file)
        let error = #expect(throws: KeyringError.self) { try keyring.deviceKeys(named: phone) }
        #expect(error.map { !"\($0)".uppercased().contains("SECRET-KEY") } == true)
    }

    @Test("a name can't leave the folder", arguments: ["", ".", "..", "../x", "a/b", "-x", ".x", "é", "a b", "a\0"])
    func names(text: String) {
        #expect(KeyName(parsing: text) == nil)
    }

    @Test("the store of a device knows its own key IDs and no other")
    func store() throws {
        let recipient = try keyring.generateDevice(named: phone)
        let store = KeyringStore(keyring, device: phone)
        #expect(try store.keys(for: recipient.keyID).count == 1)
        #expect(try store.keys(for: Identity().recipient.keyID).isEmpty)
        let missing = KeyringStore(keyring, device: newsroom)
        #expect(throws: KeyStoreError.self) { try missing.keys(for: recipient.keyID) }
    }

    @Test("a secret that was made elsewhere is added, and shown only where it is asked for by name")
    func secrets() throws {
        let key = SenderKey()
        var text = key.withSecretText { [UInt8]($0) }
        #expect(try keyring.add(secretText: text, named: newsroom) == .sender(key.sender))
        #expect(try keyring.withSecretText(of: newsroom) { [UInt8]($0) } == text)
        text[40] ^= 1
        #expect(try keyring.add(secretText: text, named: phone) == nil)
        #expect(throws: KeyringError.notFound(phone)) { try keyring.entry(named: phone) }
        #expect(try Checkout.text(folder.appending("Keys/audit.jsonl")).contains("exported-secret"))
    }
}
