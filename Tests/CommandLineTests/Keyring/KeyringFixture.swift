import Foundation
import PushKeyring
import SealedPush
import TestSupport

/// A keyring with a key of each kind in each state, in a folder in memory, and its secrets.
final class KeyringFixture: Sendable {
    static let topic: Topic = "com.example.app"

    let folder: TemporaryFolder
    /// The secrets that seal the keyring at first or after a change.
    let secrets: [KeyringSecret]
    let seal: Seal

    enum Seal: String, CaseIterable, Sendable {
        case clear
        case key
        case passphrase
    }

    var keyring: URL { folder.appending("Keys") }

    /// Returns a copy of the original keyring, for one process to change.
    func copy() throws -> KeyringCopy { try KeyringCopy(of: keyring, fixture: self) }

    init(sealed seal: Seal) throws {
        self.seal = seal
        folder = try TemporaryFolder(inMemory: true)
        let start = Timestamp.now().advanced(bySeconds: -40 * 86_400)
        let later = Timestamp.now().advanced(bySeconds: -35 * 86_400)
        let key = KeyringKey()
        let newKey = KeyringKey()
        for (file, key) in [("key", key), ("new-key", newKey)] {
            try folder.write(key.withText { String(decoding: $0, as: UTF8.self) } + "\n", to: file)
        }
        try folder.write("correct horse battery staple\n", to: "passphrase")
        let passphrase = Passphrase(Array("correct horse battery staple".utf8))!
        secrets = [.key(key), .key(newKey), .passphrase(passphrase)]

        let keys = Keyring(folder: folder.appending("Keys"))
        // A device with a retired key that is due for erasure, and a revoked one.
        try keys.generateDevice(named: "alice-phone", topic: Self.topic, at: start)
        try keys.rotate("alice-phone", at: start.advanced(bySeconds: 1))
        try keys.confirm("alice-phone", at: start.advanced(bySeconds: 2))
        try keys.generateDevice(named: "old-phone", at: start)
        try keys.revoke("old-phone", at: later)
        // A sender in use, and one with a new key that isn't confirmed.
        try keys.generateSender(named: "newsroom", at: start)
        try keys.generateSender(named: "weather", at: start)
        try keys.rotate("weather", at: later)
        try keys.generateAuthority(named: "authority", at: start)
        // Others' keys: one unverified, and one with a record.
        try keys.add(.device(DevicePrivateKey().recipient), named: "friend", at: start)
        let phone = Keyring(folder: folder.appending("Phone"))
        try phone.generateDevice(named: "bob-phone", topic: Self.topic, at: start)
        let record = try phone.entry(named: "bob-phone").record!
        try keys.add(record, named: "bob-phone", at: start)
        try phone.rotate("bob-phone", at: later)
        try folder.write(try phone.entry(named: "bob-phone").record!.description, to: "newer-record")
        try phone.generateDevice(named: "carol-phone", topic: Self.topic, at: start)
        try folder.write(try phone.entry(named: "carol-phone").record!.description, to: "record")
        try phone.generateSender(named: "secret", at: start)
        try phone.withSecretText(of: "secret") {
            _ = try? folder.write(String(decoding: $0, as: UTF8.self), to: "secret")
        }
        try folder.write(SenderPrivateKey().sender.description, to: "sender")
        try keys.trust(.sender(keys.sender(named: "newsroom")), for: Self.topic, at: start)
        switch seal {
        case .clear: break
        case .key: try keys.seal(with: secrets[0])
        case .passphrase: try keys.seal(with: secrets[2])
        }
    }

    /// Returns the text of one of the fixture's one-line files.
    func text(_ file: String) throws -> String {
        try Checkout.text(folder.appending(file)).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The options with which a command opens the keyring.
    var unlocking: [String] {
        switch seal {
        case .clear: []
        case .key: ["--unlock", folder.appending("key").path]
        case .passphrase: ["--unlock", folder.appending("passphrase").path]
        }
    }
}

/// A keyring for one test to change, in a folder of its own.
struct KeyringCopy {
    let folder: TemporaryFolder
    let fixture: KeyringFixture

    var keyring: URL { folder.appending("Keys") }

    init(of keyring: URL, fixture: KeyringFixture) throws {
        folder = try TemporaryFolder(inMemory: true)
        self.fixture = fixture
        try FileManager.default.copyItem(at: keyring, to: folder.appending("Keys"))
    }

    /// Returns a copy of this copy in its current state.
    func copy() throws -> KeyringCopy { try KeyringCopy(of: keyring, fixture: fixture) }

    /// Returns the command's words with this keyring and the options that open it.
    func words(_ command: KeyringCommand) throws -> [String] {
        try command.words(fixture) + ["--keyring", keyring.path] + fixture.unlocking
    }
}
