import Dispatch
import Foundation
import PushKeyring
import SealedPush
import TestSupport
import Testing

@Suite("A new keyring") struct FirstSealTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("is sealed from its first file on, where a key or passphrase is given") func sealedAtOnce() throws {
        let key = KeyringKey()
        let passphrase = try #require(Passphrase(Array("correct horse".utf8)))
        for (name, secret) in [("K", KeyringSecret.key(key)), ("P", .passphrase(passphrase))] {
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

    @Test("is not sealed by what fails, and one that has keys never without being told") func notByTheWay() throws {
        let given = Keyring(folder: folder.appending("K"), unlocking: .given(.key(KeyringKey())))
        #expect(throws: KeyringError.notFound("nobody")) { try given.rotate("nobody") }
        #expect(try given.sealKind() == nil)
        try Keyring(folder: folder.appending("K")).generateSender(named: "newsroom")
        #expect(throws: KeyringError.notSealed(folder.appending("K"))) { try given.generateSender(named: "other") }
        #expect(throws: KeyringError.notSealed(folder.appending("K"))) { try given.entries() }
        #expect(try Keyring(folder: folder.appending("K")).entries().keys.map(\.name) == ["newsroom"])
    }

    @Test("made by several at once with different keys belongs to the first") func race() throws {
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
