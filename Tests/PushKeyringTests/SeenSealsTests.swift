import Foundation
import SealedPush
import TestSupport
import Testing

@testable import PushKeyring

@Suite("A keyring that was seen sealed") struct SeenSealsTests {
    private let folder: TemporaryFolder
    private let key = KeyringSecret.key(KeyringKey())

    init() throws {
        folder = try TemporaryFolder()
        let keyring = Keyring(folder: folder.appending("Keys"))
        try keyring.generateSender(named: "newsroom")
        try keyring.seal(with: key)
    }

    private func keyring(_ secret: KeyringSecret? = nil, of user: String = "state") -> Keyring {
        // The secret is asked for, as at a terminal, so only the notes require a seal.
        let unlocking = secret.map { secret in KeyringUnlocking.asking { (_) throws(KeyringError) in secret } }
        return Keyring(
            folder: folder.appending("Keys"), unlocking: unlocking,
            expecting: SealExpectation(notes: folder.appending(user)))
    }

    private func notes(of user: String = "state") -> [URL] {
        (try? FileManager.default.contentsOfDirectory(
            at: folder.appending(user), includingPropertiesForKeys: [.fileSizeKey])) ?? []
    }

    /// Replaces the whole folder, as an attacker without its key would.
    private func replace() throws {
        try FileManager.default.removeItem(at: folder.appending("Keys"))
        try Keyring(folder: folder.appending("Keys")).generateSender(named: "newsroom")
    }

    private func expectRefusal(isSealed: Bool, _ user: String = "state", _ read: () throws -> Void) {
        let error = #expect(throws: KeyringError.self) { try read() }
        guard case .sealChanged(_, isSealed, let note)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(notes(of: user).map(\.lastPathComponent) == [note.lastPathComponent])
        #expect("\(error!)".contains("rm '\(note.path)'"))
    }

    @Test("both the old and the new seal are accepted if a change of the seal is interrupted") func cutOff()
        throws
    {
        let keyring = keyring(key)
        _ = try keyring.senderKey(named: "newsroom")
        let note = try #require(notes().first)
        let before = try #require(SealExpectation.marks(in: note))
        let next = KeyringSeal(.key)
        try keyring.changingSeal(to: next) { () throws(KeyringError) in
            #expect(SealExpectation.marks(in: note) == before + [next.mark])
        }
        #expect(SealExpectation.marks(in: note) == [next.mark])
    }

    @Test("a note is written once the keyring was opened, for its user only, and an unsealed replacement is rejected")
    func replaced() throws {
        _ = try keyring().entries()
        #expect(notes().isEmpty, "it hasn't been opened yet")
        _ = try keyring(key).senderKey(named: "newsroom")
        let note = try #require(notes().first)
        #expect(try FileManager.default.attributesOfItem(atPath: note.path)[.posixPermissions] as? Int == 0o600)
        let state = try FileManager.default.attributesOfItem(atPath: folder.appending("state").path)
        #expect(state[.posixPermissions] as? Int == 0o700)
        try replace()
        expectRefusal(isSealed: false) { _ = try keyring().entries() }
        expectRefusal(isSealed: false) { _ = try keyring().senderKey(named: "newsroom") }
        expectRefusal(isSealed: false) { try keyring().generateSender(named: "other") }
        expectRefusal(isSealed: false) { try keyring().seal(with: key) }
        // By every path that leads to it.
        let link = folder.appending("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.appending("Keys"))
        let linked = Keyring(
            folder: link, expecting: SealExpectation(notes: folder.appending("state")))
        expectRefusal(isSealed: false) { _ = try linked.entries() }
        let findings = try keyring().examine()
        #expect(findings.contains { $0.code == "seal-changed" && $0.severity == .problem })
        // Another user hasn't seen it, and a user who accepts it deletes the note.
        _ = try keyring(of: "other").entries()
        try FileManager.default.removeItem(at: note)
        _ = try keyring().entries()
    }

    @Test("the same user can reseal and unseal the keyring, but no other user can do so unnoticed")
    func resealed() throws {
        _ = try keyring(key).senderKey(named: "newsroom")
        let other = KeyringSecret.key(KeyringKey())
        try keyring(key).seal(with: other)
        _ = try keyring(other).senderKey(named: "newsroom")
        try Keyring(folder: folder.appending("Keys"), unlocking: .given(other)).seal(with: key)
        expectRefusal(isSealed: true) { _ = try keyring(key).senderKey(named: "newsroom") }
        expectRefusal(isSealed: true) { _ = try keyring().entries() }
        try FileManager.default.removeItem(at: try #require(notes().first))
        _ = try keyring(key).senderKey(named: "newsroom")
        try keyring(key).seal(with: nil)
        #expect(notes().isEmpty)
        _ = try keyring().senderKey(named: "newsroom")
        try keyring().seal(with: key)
        #expect(notes().count == 1)
        _ = try keyring(key).senderKey(named: "newsroom")
    }

    @Test("A note that was left halfway through a change of the seal accepts both seals, and then has one mark again")
    func halfway() throws {
        _ = try keyring(key).senderKey(named: "newsroom")
        let note = try #require(notes().first)
        let before = try Checkout.text(note)
        try Data((before + "next: none\n").utf8).write(to: note)
        _ = try keyring(key).senderKey(named: "newsroom")
        #expect(try Checkout.text(note) == before)
        try Data((before + "next: none\n").utf8).write(to: note)
        try replace()
        _ = try keyring().senderKey(named: "newsroom")
    }

    @Test("each keyring has its own note") func ownNote() throws {
        _ = try keyring(key).senderKey(named: "newsroom")
        try FileManager.default.copyItem(at: folder.appending("Keys"), to: folder.appending("Other"))
        let seen = SealExpectation(notes: folder.appending("state"))
        let other = Keyring(folder: folder.appending("Other"), unlocking: .given(key), expecting: seen)
        try other.seal(with: .key(KeyringKey()))
        _ = try keyring(key).senderKey(named: "newsroom")
        #expect(notes().count == 2)
    }

    @Test("a damaged note rejects the keyring; without a place, no notes are kept") func damaged() throws {
        _ = try keyring(key).senderKey(named: "newsroom")
        let note = try #require(notes().first)
        // Without a note's contents, and with extra contents.
        for text in ["x", try Checkout.text(note) + "\nnext: none\n"] {
            try Data(text.utf8).write(to: note)
            expectRefusal(isSealed: true) { _ = try keyring(key).senderKey(named: "newsroom") }
        }
        try FileManager.default.removeItem(at: note)
        try FileManager.default.createDirectory(at: note, withIntermediateDirectories: false)
        expectRefusal(isSealed: true) { _ = try keyring(key).senderKey(named: "newsroom") }
        try folder.write("", to: "file")
        _ = try keyring(key, of: "file/state").senderKey(named: "newsroom")
        try replace()
        _ = try keyring(of: "file/state").entries()
    }

    @Test("a keyring that must be sealed, but isn't, is rejected by every read and by the first change")
    func required() throws {
        let required = Keyring(folder: folder.appending("Open"), expecting: SealExpectation(isRequired: true))
        let refusal = KeyringError.notSealed(folder.appending("Open"))
        #expect(throws: refusal) { try required.generateSender(named: "newsroom") }
        try Keyring(folder: folder.appending("Open")).generateSender(named: "newsroom")
        #expect(throws: refusal) { try required.entries() }
        #expect(throws: refusal) { try required.entry(named: "newsroom") }
        #expect(throws: refusal) { try required.senderKey(named: "newsroom") }
        #expect(throws: refusal) { try required.sealKind() }
        try Keyring(folder: folder.appending("Open")).seal(with: key)
        #expect(try required.entries().keys.count == 1)
    }
}
