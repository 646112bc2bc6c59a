import Foundation
import PushCore
import SealedPush
import TestSupport
import Testing

@testable import PushKeyring

@Suite("A sealed keyring") struct SealedKeyringTests {
    private let folder: TemporaryFolder
    private let key = KeyringKey()

    init() throws {
        folder = try TemporaryFolder()
        let open = Keyring(folder: folder.appending("Keys"))
        try open.generateDevice(named: "alice-phone", topic: "com.example.app")
        try open.generateSender(named: "newsroom")
        try open.add(.device(DevicePrivateKey().recipient), named: "bob")
        try open.trust(.sender(SenderPrivateKey().sender), for: "com.example.app")
        try open.seal(with: .key(key))
    }

    private var sealed: Keyring { Keyring(folder: folder.appending("Keys"), unlocking: .given(.key(key))) }
    private var locked: Keyring { Keyring(folder: folder.appending("Keys")) }

    private func passphrase(_ text: String) throws -> KeyringSecret {
        .passphrase(try #require(Passphrase(Array(text.utf8))))
    }

    private var file: URL { folder.appending("Keys/keyring.txt") }

    @Test("opens with its key, and is listed without") func opens() throws {
        #expect(try sealed.deviceKeys(named: "alice-phone").count == 1)
        _ = try sealed.senderKey(named: "newsroom")
        let (entries, isVerified) = try locked.entries()
        #expect(entries.map(\.name) == ["alice-phone", "bob", "newsroom"] && !isVerified)
        #expect(try sealed.entries().isVerified)
        #expect(try locked.entry(named: "newsroom").current.hasSecret)
        #expect(throws: KeyringError.needsSecret(.key)) { try locked.senderKey(named: "newsroom") }
        #expect(throws: KeyringError.needsSecret(.key)) { try locked.trustList() }
        #expect(throws: KeyringError.needsSecret(.key)) { try locked.generateSender(named: "other") }
        #expect(try sealed.rotate("alice-phone").keyID == sealed.entry(named: "alice-phone").keys[0].key.keyID)
    }

    @Test("holds no secret in the clear, in any file") func noSecrets() throws {
        for file in try Checkout.allFiles(in: folder.appending("Keys")) {
            let text = try Checkout.text(file)
            #expect(!text.contains("SECRET-KEY-1"), "\(file.lastPathComponent)")
        }
    }

    @Test("a wrong key or passphrase has one answer, also where keyring.txt was changed") func wrongSecret() throws {
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

    @Test("Every changed bit and every other length of a sealed keyring is refused before any key is used")
    func edited() throws {
        try sealed.generateSender(named: "weather")
        let good = try [UInt8](Data(contentsOf: file))
        var random = SeededGenerator()
        var damages = Thoroughness.sample(200, of: Array(0..<8 * good.count), using: &random).map { bit in
            var changed = good
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            return changed
        }
        damages += Thoroughness.sample(60, of: Array(0..<good.count), using: &random).map { Array(good[..<$0]) }
        damages += [good + [10], good + good]
        let used = sealed
        _ = try used.senderKey(named: "newsroom")
        for damage in damages {
            try Data(damage).write(to: file)
            for keyring in [sealed, used] {
                #expect(throws: KeyringError.self) { try keyring.unverifiedRecipient(named: "bob") }
                #expect(throws: KeyringError.self) { try keyring.rotate("newsroom") }
            }
        }
        try Data(good).write(to: file)
        #expect(try sealed.trustList().entries.count == 1)
    }

    @Test("An edited keyring is told from a wrong secret, and one in the clear is refused where a secret was named")
    func altered() throws {
        let good = try Checkout.text(file)
        try Data(good.replacing("name: bob", with: "name: eve").utf8).write(to: file)
        #expect(throws: KeyringError.altered(file)) { try sealed.senderKey(named: "newsroom") }
        #expect(throws: KeyringError.altered(file)) { try sealed.entries() }
        let (entries, isVerified) = try locked.entries()
        #expect(entries.contains { $0.name == "eve" } && !isVerified)
        let foreign = try TemporaryFolder()
        try Keyring(folder: foreign.url).generateSender(named: "newsroom")
        try Data(contentsOf: foreign.appending("keyring.txt")).write(to: file)
        #expect(throws: KeyringError.notSealed(folder.appending("Keys"))) { try sealed.senderKey(named: "newsroom") }
        try FileManager.default.removeItem(at: file)
        #expect(throws: KeyringError.notFound("newsroom")) { try sealed.senderKey(named: "newsroom") }
    }

    @Test("Each writing seals the secrets under another salt") func freshSalt() throws {
        func block() throws -> String {
            String(try #require(try Checkout.text(file).firstMatch(of: /sealed: (\S{43})/)).output.1)
        }
        let first = try block()
        try sealed.add(.device(DevicePrivateKey().recipient), named: "carol")
        #expect(try block() != first)
    }

    @Test("sealing anew changes everything, and the old key opens nothing of it") func sealedAnew() throws {
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

    @Test("a passphrase lacks one line end") func limits() {
        for end in ["", "\n", "\r\n", "\r"] {
            let bytes = Passphrase(Array("word\(end)".utf8))?.withBytes { Array($0) }
            #expect(bytes == Array("word".utf8))
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
