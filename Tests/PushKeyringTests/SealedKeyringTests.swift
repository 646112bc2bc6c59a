import Dispatch
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

    private var file: URL { folder.appending("Keys/keyring.txt") }

    @Test("a sealed keyring opens with its key, is listed without it, and has no secret in the clear in any file")
    func opens() throws {
        for file in try Checkout.allFiles(in: folder.appending("Keys")) {
            #expect(try !Checkout.text(file).contains("SECRET-KEY-1"), "\(file.lastPathComponent)")
        }
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

    @Test("a wrong secret gives the same error even if keyring.txt was changed") func wrongSecret() throws {
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
        // Another keyring's salt, and costs that would make guessing cheap or take forever.
        try Data(text.replacing(/salt: ./, with: "salt: \(text.contains("salt: A") ? "B" : "A")").utf8).write(to: file)
        let salted = Keyring(folder: folder.appending("Keys"), unlocking: .given(try passphrase("correct horse")))
        #expect(throws: KeyringError.wrongSecret(.passphrase)) { try salted.senderKey(named: "newsroom") }
        for (name, value) in [("operations", "1"), ("operations", "17"), ("memory", "1024"), ("memory", "99999999999")]
        {
            try Data(text.replacing(try Regex("\(name): [0-9]+"), with: "\(name): \(value)").utf8).write(to: file)
            #expect(throws: KeyringError.damaged(file)) { try salted.senderKey(named: "newsroom") }
        }
    }

    @Test("Every changed bit and every other length of a sealed keyring is rejected before any key is used")
    func edited() async throws {
        try sealed.generateSender(named: "weather")
        let good = try [UInt8](Data(contentsOf: file))
        let damages = damages(of: good, bitCount: 200, cutCount: 60) + [good + [10], good + good]
        let used = sealed
        _ = try used.senderKey(named: "newsroom")
        for damage in damages {
            await Task.yield()
            try Data(damage).write(to: file)
            for keyring in [sealed, used] {
                #expect(throws: KeyringError.self) { try keyring.unverifiedRecipient(named: "bob") }
                #expect(throws: KeyringError.self) { try keyring.rotate("newsroom") }
            }
        }
        try Data(good).write(to: file)
        #expect(try sealed.trustList().entries.count == 1)
    }

    @Test("An edited keyring differs from a wrong secret, and an unsealed one is rejected if a secret was given")
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

    @Test("Each write seals the secrets under a new salt") func freshSalt() throws {
        func block() throws -> String {
            String(try #require(try Checkout.text(file).firstMatch(of: /sealed: (\S{43})/)).output.1)
        }
        let first = try block()
        try sealed.add(.device(DevicePrivateKey().recipient), named: "carol")
        #expect(try block() != first)
        // With one key file, too, each seal has its own keys.
        let secret = KeyringSecret.key(KeyringKey())
        #expect(try KeyringSealKey(new: secret).storage.mac([1]) != KeyringSealKey(new: secret).storage.mac([1]))
    }

    @Test("A keyring's file has each name only once per paragraph, and nothing after its MAC") func form() {
        /// Nil if the file is rejected.
        func endsWithMAC(_ text: String) -> Bool? {
            guard let file = TextFile(parsing: Array(text.utf8)) else { return nil }
            return file.withLastLine("mac") { _, _ in true } ?? false
        }
        let cases: [(String, Bool?)] = [
            ("key: 1\n\nkey: 2\nmac: AAAA\n", true), ("key: 1\nkey: 2\nmac: AAAA\n", nil), ("mac: AAAA\n#\n", false),
            ("mac: AAAA\n\n", false), ("mac: AAAA\nkey: 1\n", false), ("mac: AAAA", nil),
        ]
        for (text, expected) in cases { #expect(endsWithMAC(text) == expected, "\(text)") }
    }

    @Test("resealing changes everything, and the old key can't open the new file") func sealedAnew() throws {
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

    @Test("an open keyring keeps working when another process reseals it with the same key")
    func sealedMeanwhile() throws {
        let keyring = sealed
        _ = try keyring.senderKey(named: "newsroom")
        try sealed.seal(with: .key(key))
        _ = try keyring.senderKey(named: "newsroom")
        try keyring.generateSender(named: "later")
        _ = try sealed.senderKey(named: "later")
    }

    /// A keyring that asks for its key while another process reseals or unseals it.
    private func asking(_ meanwhile: KeyringSecret?) -> Keyring {
        let (others, key, isFirst) = (sealed, key, Locked(true))
        return Keyring(
            folder: folder.appending("Keys"),
            unlocking: .asking { (_) throws(KeyringError) in
                let isFirst = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                guard isFirst else { return meanwhile ?? .key(key) }
                try others.seal(with: meanwhile)
                return .key(key)
            })
    }

    @Test("A change starts over if another process reseals or unseals the keyring while its key is asked for")
    func sealedAnewMeanwhile() throws {
        for (name, meanwhile) in [("later", KeyringSecret.key(KeyringKey())), ("latest", nil)]
            as [(KeyName, KeyringSecret?)]
        {
            try asking(meanwhile).generateSender(named: name)
            let anew = Keyring(folder: folder.appending("Keys"), unlocking: meanwhile.map { .given($0) })
            #expect(try anew.sealKind() == meanwhile?.kind)
            for name in ["newsroom", name] { _ = try anew.senderKey(named: name) }
            try anew.seal(with: .key(key))

            let last = KeyringSecret.key(KeyringKey())
            try asking(meanwhile).seal(with: last)
            let sealedLast = Keyring(folder: folder.appending("Keys"), unlocking: .given(last))
            _ = try sealedLast.senderKey(named: "newsroom")
            #expect(try sealedLast.trustList().entries.count == 1)
            try sealedLast.seal(with: .key(key))
        }
    }

    @Test("a passphrase may be composed or not; one that sealed uncomposed still opens") func normalized() throws {
        let text = "Z\u{fc}rich caf\u{e9}"
        let typed = ["Z\u{fc}rich caf\u{e9}", "Zu\u{308}rich cafe\u{301}"]
        func opened(with text: String) throws -> SenderPrivateKey {
            try Keyring(folder: folder.appending("Keys"), unlocking: .given(try passphrase(text))).senderKey(
                named: "newsroom")
        }
        try sealed.seal(with: passphrase(text))
        for other in typed { _ = try opened(with: other) }
        #expect(throws: KeyringError.wrongSecret(.passphrase)) { try opened(with: "Zurich cafe") }
        // As it was sealed before passphrases were composed.
        let before = try #require(try passphrase(typed[1]).forms.last)
        try Keyring(folder: folder.appending("Keys"), unlocking: .given(try passphrase(text))).seal(with: before)
        _ = try opened(with: typed[1])
        let backup = try Keyring(folder: folder.appending("Keys"), unlocking: .given(before)).backup(under: before)
        let restored = Keyring(folder: folder.appending("Restored"))
        #expect(try restored.restore(backup, with: passphrase(typed[1])).contains("newsroom"))
        #expect(Passphrase([0x5a, 0xfc])?.byteCount == 2, "Latin-1 stays as it is")
    }

    @Test("changes by editors and text-mode transfers to line ends don't matter") func lineEnds() throws {
        let findings = try sealed.examine()
        let text = try Checkout.text(file)
        for changed in [text.replacing("\n", with: "\r\n"), "\u{feff}" + text] {
            try Data(changed.utf8).write(to: file)
            _ = try sealed.senderKey(named: "newsroom")
            #expect(try sealed.examine() == findings)
        }
        for wrong in ["\u{feff}\u{feff}" + text, text + "\r", "\r\n" + text] {
            try Data(wrong.utf8).write(to: file)
            #expect(throws: KeyringError.self) { try sealed.senderKey(named: "newsroom") }
        }
        try Data(text.replacing("\n", with: "\r\n").utf8).write(to: file)
        try sealed.generateSender(named: "next")
        #expect(!(try Checkout.text(file)).contains("\r"))
    }

    @Test("only one line end is removed from a passphrase") func limits() {
        for end in ["", "\n", "\r\n", "\r"] {
            #expect(Passphrase(Array("word\(end)".utf8))?.byteCount == 4)
        }
    }

    @Test("the text of a keyring's key is accepted with white space around it, and only in uppercase")
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
        #expect(Passphrase([]) == nil)
        #expect(Passphrase([10]) == nil)
        #expect(Passphrase([UInt8](repeating: 65, count: 1_025)) == nil)
    }
}

@Suite("A new keyring") struct FirstSealTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("a new keyring is sealed from its first file on if a key or passphrase is given") func sealedAtOnce() throws {
        let key = KeyringKey()
        for (name, secret) in [("K", KeyringSecret.key(key)), ("P", try passphrase("correct horse"))] {
            let keyring = Keyring(folder: folder.appending(name), unlocking: .given(secret))
            let sender = try keyring.generateSender(named: "newsroom")
            #expect(try keyring.sealKind() == secret.kind)
            #expect(try keyring.senderKey(named: "newsroom").sender == sender)
            let again = Keyring(folder: folder.appending(name), unlocking: .given(secret))
            #expect(try again.senderKey(named: "newsroom").sender == sender)
            for file in try Checkout.allFiles(in: folder.appending(name)) {
                #expect(try !Checkout.text(file).contains("SECRET-KEY-1"))
            }
        }
    }

    @Test("a failed operation seals nothing, and existing keys are not sealed implicitly") func notByTheWay() throws {
        let given = Keyring(folder: folder.appending("K"), unlocking: .given(.key(KeyringKey())))
        #expect(throws: KeyringError.notFound("nobody")) { try given.rotate("nobody") }
        #expect(try given.sealKind() == nil)
        try Keyring(folder: folder.appending("K")).generateSender(named: "newsroom")
        #expect(throws: KeyringError.notSealed(folder.appending("K"))) { try given.generateSender(named: "other") }
        #expect(throws: KeyringError.notSealed(folder.appending("K"))) { try given.entries() }
        #expect(try Keyring(folder: folder.appending("K")).entries().keys.map(\.name) == ["newsroom"])
    }

    @Test("a new keyring that several processes create with different keys belongs to the first") func race() throws {
        for round in 0..<10 {
            let place = folder.appending("R\(round)")
            let sealed = Collected<KeyringKey>()
            DispatchQueue.concurrentPerform(iterations: 4) { number in
                let key = KeyringKey()
                let keyring = Keyring(folder: place, unlocking: .given(.key(key)))
                guard let name = KeyName(parsing: "n\(number)"), (try? keyring.generateSender(named: name)) != nil
                else { return }
                sealed.add(key)
            }
            let key = try #require(sealed.all.first)
            #expect(sealed.all.count == 1)
            #expect(try Keyring(folder: place, unlocking: .given(.key(key))).entries().keys.count == 1)
        }
    }
}
