import Foundation
import SealedPush
import TestSupport
import Testing
import _PushBase

@testable import PushKeyring

@Suite("A sealed keyring")
struct SealedKeyringTests {
    private let folder: TemporaryFolder
    private let key = KeyringKey()

    init() throws {
        folder = try TemporaryFolder()
        let open = Keyring(folder: folder.appending("Keys"))
        try open.generateDevice(named: "alice-phone", topic: "com.example.app")
        try open.generateSender(named: "newsroom")
        try open.add(.device(Identity().recipient), named: "bob")
        try open.trust(.sender(SenderKey().sender), for: "com.example.app")
        try open.seal(with: .key(key))
    }

    private var sealed: Keyring { Keyring(folder: folder.appending("Keys"), unlocking: .given(.key(key))) }
    private var locked: Keyring { Keyring(folder: folder.appending("Keys")) }

    private func passphrase(_ text: String) throws -> KeyringSecret {
        .passphrase(try #require(Passphrase(Array(text.utf8))))
    }

    private var files: [URL] {
        get throws {
            try Checkout.allFiles(in: folder.appending("Keys")).filter {
                !["lock", "audit.jsonl", ".gitignore"].contains($0.lastPathComponent)
            }
        }
    }

    @Test("opens with its key, and is listed without")
    func opens() throws {
        #expect(try sealed.deviceKeys(named: "alice-phone").count == 1)
        _ = try sealed.senderKey(named: "newsroom")
        #expect(try locked.entries().keys.map(\.name) == ["alice-phone", "bob", "newsroom"])
        #expect(try locked.entry(named: "newsroom").current.hasSecret)
        #expect(throws: KeyringError.needsSecret(.key)) { try locked.senderKey(named: "newsroom") }
        #expect(throws: KeyringError.needsSecret(.key)) { try locked.trustList() }
        #expect(throws: KeyringError.needsSecret(.key)) { try locked.generateSender(named: "other") }
        #expect(try sealed.rotate("alice-phone").keyID == sealed.entry(named: "alice-phone").keys[0].key.keyID)
    }

    @Test("holds no secret in the clear, in any file")
    func noSecrets() throws {
        for file in try Checkout.allFiles(in: folder.appending("Keys")) {
            let text = try Checkout.text(file)
            #expect(!text.contains("SECRET-KEY-1"), "\(file.lastPathComponent)")
        }
        #expect(try files.count == 6)
    }

    @Test("a wrong key or passphrase has one answer, also where keyring.txt was changed")
    func wrongSecret() throws {
        let other = Keyring(folder: folder.appending("Keys"), unlocking: .given(.key(KeyringKey())))
        #expect(throws: KeyringError.wrongSecret(.key)) { try other.senderKey(named: "newsroom") }
        #expect(throws: KeyringError.wrongSecret(.key)) { try other.generateSender(named: "x") }
        try sealed.seal(with: passphrase("correct horse"))
        for wrong in ["correct horsf", "correct hors", "x"] {
            let other = Keyring(folder: folder.appending("Keys"), unlocking: .given(try passphrase(wrong)))
            #expect(throws: KeyringError.wrongSecret(.passphrase)) { try other.senderKey(named: "newsroom") }
        }
        #expect(throws: KeyringError.needsSecret(.passphrase)) { try sealed.senderKey(named: "newsroom") }
        let right = Keyring(folder: folder.appending("Keys"), unlocking: .given(try passphrase("correct horse\n")))
        _ = try right.senderKey(named: "newsroom")
        let file = folder.appending("Keys/keyring.txt")
        let text = try Checkout.text(file)
        // A salt of another keyring, and costs that would be cheap to guess at or take for ever.
        try Data(text.replacing(/salt: ./, with: "salt: \(text.contains("salt: A") ? "B" : "A")").utf8).write(to: file)
        let salted = Keyring(folder: folder.appending("Keys"), unlocking: .given(try passphrase("correct horse")))
        #expect(throws: KeyringError.wrongSecret(.passphrase)) { try salted.senderKey(named: "newsroom") }
        for (name, value) in [("operations", "1"), ("operations", "17"), ("memory", "1024"), ("memory", "99999999999")]
        {
            try Data(text.replacing(try Regex("\(name): [0-9]+"), with: "\(name): \(value)").utf8).write(to: file)
            #expect(throws: KeyringError.damaged(file)) { try salted.senderKey(named: "newsroom") }
        }
    }

    @Test("each changed byte of each file is noticed by whoever uses it")
    func edited() throws {
        var random = SeededGenerator()
        for file in try files {
            let original = try Data(contentsOf: file)
            for index in Thoroughness.sample(60, of: Array(original.indices), using: &random) {
                var changed = original
                changed[index] ^= 1
                try changed.write(to: file)
                #expect(throws: KeyringError.self, "\(file.lastPathComponent), byte \(index)") {
                    switch file.lastPathComponent {
                    case "alice-phone.txt": _ = try sealed.deviceKeys(named: "alice-phone")
                    case "newsroom.txt": _ = try sealed.senderKey(named: "newsroom")
                    case "bob.txt": _ = try sealed.unverifiedRecipient(named: "bob")
                    case "trust.txt": _ = try sealed.trustList()
                    case "keyring.txt": _ = try sealed.trustList()
                    // The end of the audit log stands in nobody's way; the doctor checks it.
                    default: throw KeyringError.damaged(file)
                    }
                }
            }
            try original.write(to: file)
        }
        #expect(try sealed.trustList().entries.count == 1)
    }

    @Test("files that change places, and secrets in the clear put in their place, are noticed")
    func swapped() throws {
        try sealed.generateSender(named: "other")
        let first = folder.appending("Keys/private/newsroom.txt")
        let second = folder.appending("Keys/private/other.txt")
        let original = try Data(contentsOf: first)
        try Data(contentsOf: second).write(to: first)
        #expect(throws: KeyringError.altered(first)) { try sealed.senderKey(named: "newsroom") }
        let foreign = try TemporaryFolder()
        let attacker = Keyring(folder: foreign.url)
        try attacker.generateSender(named: "newsroom")
        try Data(contentsOf: foreign.appending("private/newsroom.txt")).write(to: first)
        #expect(throws: KeyringError.altered(first)) { try sealed.senderKey(named: "newsroom") }
        try original.write(to: first)
        _ = try sealed.senderKey(named: "newsroom")
        // A keyring that suddenly asks for no key is refused too.
        try FileManager.default.removeItem(at: folder.appending("Keys/keyring.txt"))
        #expect(throws: KeyringError.notSealed(folder.appending("Keys"))) { try sealed.senderKey(named: "newsroom") }
        #expect(throws: KeyringError.self) { try locked.senderKey(named: "newsroom") }
    }

    @Test("sealing anew changes everything, and the old key opens nothing of it")
    func sealedAnew() throws {
        let sender = try sealed.senderKey(named: "newsroom").sender
        let other = KeyringKey()
        try sealed.seal(with: .key(other))
        #expect(throws: KeyringError.wrongSecret(.key)) { try sealed.senderKey(named: "newsroom") }
        let anew = Keyring(folder: folder.appending("Keys"), unlocking: .given(.key(other)))
        #expect(try anew.senderKey(named: "newsroom").sender == sender)
        #expect(try anew.trustList().entries.count == 1)
        try anew.seal(with: nil)
        #expect(try locked.sealKind() == nil)
        #expect(try locked.senderKey(named: "newsroom").sender == sender)
        #expect(!FileManager.default.fileExists(atPath: folder.appending("Keys/keyring.txt").path))
    }

    @Test("a keyring that is open goes on when another process seals it anew with the same key")
    func sealedMeanwhile() throws {
        let keyring = sealed
        _ = try keyring.senderKey(named: "newsroom")
        try sealed.seal(with: .key(key))
        _ = try keyring.senderKey(named: "newsroom")
        try keyring.generateSender(named: "later")
        _ = try sealed.senderKey(named: "later")
    }

    @Test("what was begun under a seal is written without one, where that was taken away while its key was asked for")
    func unsealedMeanwhile() throws {
        let (others, key) = (sealed, key)
        let asking = Keyring(
            folder: folder.appending("Keys"),
            unlocking: .asking { (_) throws(KeyringError) in
                try others.seal(with: nil)
                return .key(key)
            })
        try asking.generateSender(named: "later")
        #expect(try locked.sealKind() == nil)
        for name: KeyName in ["newsroom", "later"] { _ = try locked.senderKey(named: name) }
    }

    @Test("what was begun under one seal is written under the next, made while its key was asked for")
    func sealedAnewMeanwhile() throws {
        let (others, key, next) = (sealed, key, KeyringKey())
        let isSealedAnew = Locked(false)
        let asking = Keyring(
            folder: folder.appending("Keys"),
            unlocking: .asking { (_) throws(KeyringError) in
                let isFirst = isSealedAnew.withLock { isSealedAnew in
                    defer { isSealedAnew = true }
                    return !isSealedAnew
                }
                guard isFirst else { return .key(next) }
                try others.seal(with: .key(next))
                return .key(key)
            })
        try asking.generateSender(named: "later")
        let anew = Keyring(folder: folder.appending("Keys"), unlocking: .given(.key(next)))
        for name: KeyName in ["newsroom", "later"] { _ = try anew.senderKey(named: name) }
    }

    @Test("sealing it anew begins again where another process has just done so, or has taken the seal away")
    func sealedAnewTwice() throws {
        for meanwhile in [KeyringSecret.key(KeyringKey()), nil] {
            let (others, key, last) = (sealed, key, KeyringKey())
            let isSealedAnew = Locked(false)
            let asking = Keyring(
                folder: folder.appending("Keys"),
                unlocking: .asking { (_) throws(KeyringError) in
                    let isFirst = isSealedAnew.withLock { isSealedAnew in
                        defer { isSealedAnew = true }
                        return !isSealedAnew
                    }
                    guard isFirst else { return meanwhile ?? .key(key) }
                    try others.seal(with: meanwhile)
                    return .key(key)
                })
            try asking.seal(with: .key(last))
            let anew = Keyring(folder: folder.appending("Keys"), unlocking: .given(.key(last)))
            _ = try anew.senderKey(named: "newsroom")
            #expect(try anew.trustList().entries.count == 1)
            try anew.seal(with: .key(key))
        }
    }

    @Test("no key counts as that of a sealed keyring, nor does another")
    func otherKeys() throws {
        let vault = sealed.vault
        #expect(try !vault.isCurrent(nil))
        let key = try vault.key()
        #expect(try vault.isCurrent(key))
        #expect(try !vault.isCurrent(nil))
        #expect(try !vault.isCurrent(sealed.vault.key()))
    }

    @Test("a file from before is refused once the keyring was sealed anew, also with the same key")
    func fileFromBefore() throws {
        let file = folder.appending("Keys/private/newsroom.txt")
        let before = try Data(contentsOf: file)
        try sealed.seal(with: .key(key))
        try before.write(to: file)
        #expect(throws: KeyringError.altered(file)) { try sealed.senderKey(named: "newsroom") }
    }

    @Test("a passphrase lacks one line end, and a text file has at most 262,144 bytes")
    func limits() {
        for end in ["", "\n", "\r\n", "\r"] {
            let bytes = Passphrase(Array("word\(end)".utf8))?.withBytes { Array($0) }
            #expect(bytes == Array("word".utf8))
        }
        for (count, isRead) in [(262_144, true), (262_145, false)] {
            let text = Array("# \(String(repeating: "x", count: count - 3))\n".utf8)
            var hasRead = false
            if let file = TextFile(parsing: text) { hasRead = file.paragraphCount == 0 }
            #expect(hasRead == isRead)
        }
    }

    @Test("the text of a keyring's key is read back, with white space around it, and in capitals only")
    func keyText() throws {
        let text = key.withText { [UInt8]($0) }
        let again = try KeyringKey(parsing: [UInt8](" ".utf8) + text + [10])
        _ = try Keyring(folder: folder.appending("Keys"), unlocking: .given(.key(again))).senderKey(named: "newsroom")
        #expect(throws: KeyTextError.notInCapitals) {
            try KeyringKey(parsing: Array(String(decoding: text, as: UTF8.self).lowercased().utf8))
        }
        for index in text.indices {
            var wrong = text
            wrong[index] = wrong[index] == UInt8(ascii: "Q") ? UInt8(ascii: "P") : UInt8(ascii: "Q")
            #expect(throws: KeyTextError.self) { try KeyringKey(parsing: wrong) }
        }
        #expect(throws: KeyTextError.self) { try KeyringKey(parsing: []) }
        #expect("\(key)" == "KeyringKey")
        #expect(Passphrase([]) == nil)
        #expect(Passphrase([10]) == nil)
        #expect(Passphrase([UInt8](repeating: 65, count: 1_025)) == nil)
    }
}
