import Dispatch
import Foundation
import PushKeyring
import SealedPush
import TestSupport
import Testing

@Suite("The keyring")
struct KeyringTests {
    private let folder: TemporaryFolder
    private let phone: KeyName
    private let newsroom: KeyName

    init() throws {
        folder = try TemporaryFolder()
        phone = try #require(KeyName(parsing: "alice-phone"))
        newsroom = try #require(KeyName(parsing: "newsroom"))
    }

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
        #expect(try keyring.deviceKey(named: phone).identity.recipient == recipient)
        #expect(try keyring.senderKey(named: newsroom).sender == sender)
        let entries = try keyring.entries().keys
        #expect(entries.map(\.name) == [phone, newsroom])
        #expect(entries.map(\.key) == [.device(recipient), .sender(sender)])
        #expect(entries.allSatisfy { $0.hasSecret })
        #expect(entries.allSatisfy { abs($0.created.seconds(since: .now())) < 60 })
    }

    @Test("private files have mode 0600, in a folder of mode 0700")
    func modes() throws {
        _ = try keyring.generateDevice(named: phone)
        #expect(try mode("private") == 0o700)
        #expect(try mode("private/alice-phone.txt") == 0o600)
        #expect(try mode("public/alice-phone.txt") == 0o644)
        #expect(try Checkout.text(folder.appending("Keys/private/.gitignore")) == "*\n")
    }

    @Test("nothing is ever overwritten, whatever kind is asked for")
    func noOverwriting() throws {
        let recipient = try keyring.generateDevice(named: phone)
        #expect(throws: KeyringError.exists(phone)) { try keyring.generateDevice(named: phone) }
        #expect(throws: KeyringError.exists(phone)) { try keyring.generateSender(named: phone) }
        #expect(throws: KeyringError.exists(phone)) { try keyring.add(.device(recipient), named: phone) }
        #expect(try keyring.deviceKey(named: phone).identity.recipient == recipient)
    }

    @Test("of many threads that generate one name, one succeeds and its key is whole")
    func race() throws {
        let made = Collected<Recipient>()
        DispatchQueue.concurrentPerform(iterations: 12) { _ in
            if let recipient = try? keyring.generateDevice(named: phone) { made.add(recipient) }
        }
        #expect(made.all.count == 1)
        #expect(try keyring.deviceKey(named: phone).identity.recipient == made.all.first)
        #expect(try keyring.entry(named: phone).key == made.all.first.map { .device($0) })
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
            if entry.hasSecret {
                #expect(.device(try keyring.deviceKey(named: name).identity.recipient) == entry.key)
            } else {
                #expect(entry.key == .device(other))
            }
        }
    }

    @Test("where the public half can't be added, no secret is left; a link that leads nowhere takes a name too")
    func nothingHalf() throws {
        _ = try keyring.generateSender(named: newsroom)
        let link = folder.appending("Keys/public/alice-phone.txt")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "/does/not/exist")
        #expect(throws: KeyringError.exists(phone)) { try keyring.generateDevice(named: phone) }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.appending("Keys/private").path)
        #expect(Set(names) == [".gitignore", "newsroom.txt"])
    }

    @Test("two halves that do not belong together are damaged")
    func foreignHalf() throws {
        _ = try keyring.generateDevice(named: phone)
        let file = folder.appending("Keys/public/alice-phone.txt")
        let other = Identity().recipient.description
        let text = try Checkout.text(file).replacing(/push1\w+/, with: other)
        try Data(text.utf8).write(to: file)
        #expect(throws: KeyringError.self) { try keyring.entry(named: phone) }
    }

    @Test("what killed processes have left is removed a minute later")
    func leftovers() throws {
        _ = try keyring.generateDevice(named: phone)
        for (name, age) in [("tmp.old", 120.0), ("tmp.new", 0)] {
            let file = folder.appending("Keys/private/\(name)")
            try Data("PUSH-SECRET-KEY-1".utf8).write(to: file)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: file.path)
        }
        _ = try keyring.generateSender(named: newsroom)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.appending("Keys/private").path)
        #expect(names.contains("tmp.new") && !names.contains("tmp.old"))
    }

    @Test("a public key of somebody else is kept without a secret")
    func imported() throws {
        let recipient = Identity().recipient
        try keyring.add(.device(recipient), named: phone)
        #expect(try keyring.entry(named: phone).hasSecret == false)
        #expect(throws: KeyringError.noSecret(phone)) { try keyring.deviceKey(named: phone) }
        #expect(throws: KeyringError.notFound(newsroom)) { try keyring.senderKey(named: newsroom) }
    }

    @Test("a process killed between the private file and the public one leaves a usable key")
    func halfWritten() throws {
        let recipient = try keyring.generateDevice(named: phone)
        try FileManager.default.removeItem(at: folder.appending("Keys/public/alice-phone.txt"))
        try Data().write(to: folder.appending("Keys/private/tmp.123"))
        #expect(try keyring.entry(named: phone).key == .device(recipient))
        #expect(try keyring.entries().keys.count == 1)
        #expect(throws: KeyringError.exists(phone)) { try keyring.generateDevice(named: phone) }
    }

    @Test("a damaged file is named, never trusted, and the others still work")
    func damaged() throws {
        _ = try keyring.generateDevice(named: phone)
        let sender = try keyring.generateSender(named: newsroom)
        let file = folder.appending("Keys/private/alice-phone.txt")
        let text = try Checkout.text(file)
        var damages = [
            "", "secret", text + text, text.replacingOccurrences(of: "kind: device", with: "kind: sender"),
            text.replacingOccurrences(of: "created", with: "made"), text + "note: x\n",
            String(repeating: "#", count: 100_000), text.lowercased(),
        ]
        for length in stride(from: 0, to: text.count - 1, by: 7) { damages.append(String(text.prefix(length))) }
        for damage in damages {
            try Data(damage.utf8).write(to: file)
            #expect(throws: KeyringError.self) { try keyring.deviceKey(named: phone) }
            #expect(try keyring.senderKey(named: newsroom).sender == sender)
        }
        try Data("no key".utf8).write(to: folder.appending("Keys/public/alice-phone.txt"))
        let (keys, errors) = try keyring.entries()
        #expect(keys.map(\.name) == [newsroom])
        #expect(errors.count == 1)
    }

    @Test("an error never holds what a private file holds")
    func quietErrors() throws {
        _ = try keyring.generateDevice(named: phone)
        let file = folder.appending("Keys/private/alice-phone.txt")
        let damaged = try Checkout.text(file).replacingOccurrences(of: "KEY-1", with: "KEY-1Q")
        try Data(damaged.utf8).write(to: file)
        do {
            _ = try keyring.deviceKey(named: phone)
            Issue.record("a damaged key was read")
        } catch {
            #expect(!"\(error)".uppercased().contains("SECRET-KEY"))
        }
    }

    @Test("a name can't leave the folder", arguments: ["", ".", "..", "../x", "a/b", "-x", ".x", "é", "a b", "a\0"])
    func names(text: String) {
        #expect(KeyName(parsing: text) == nil)
    }

    @Test("the store of a device knows its own key ID and no other")
    func store() throws {
        let recipient = try keyring.generateDevice(named: phone)
        let store = KeyringStore(keyring, device: phone)
        #expect(try store.keys(for: recipient.keyID).count == 1)
        #expect(try store.keys(for: Identity().recipient.keyID).isEmpty)
        let missing = KeyringStore(keyring, device: newsroom)
        #expect(throws: KeyStoreError.self) { try missing.keys(for: recipient.keyID) }
    }
}
