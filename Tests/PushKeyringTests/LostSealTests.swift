import Foundation
import PushKeyring
import SealedPush
import TestSupport
import Testing

@Suite("A sealed keyring that has lost its keyring.txt")
struct LostSealTests {
    private let folder: TemporaryFolder
    private let key = KeyringKey()
    private let seal: Data

    init() throws {
        folder = try TemporaryFolder()
        let keyring = Keyring(folder: folder.appending("Keys"), unlocking: .given(.key(key)))
        try keyring.generateSender(named: "newsroom")
        try keyring.generateDevice(named: "alice-phone", topic: "com.example.app")
        try keyring.add(.device(Identity().recipient), named: "bob-phone")
        seal = try Data(contentsOf: folder.appending("Keys/keyring.txt"))
        try FileManager.default.removeItem(at: folder.appending("Keys/keyring.txt"))
    }

    /// As of commands without an option: nobody says that it should be sealed.
    private var keyring: Keyring { Keyring(folder: folder.appending("Keys")) }
    private var refusal: KeyringError { .sealMissing(folder.appending("Keys/keyring.txt")) }

    private static let reads: [@Sendable (Keyring) throws -> Void] = [
        { _ = try $0.sealKind() },
        { _ = try $0.entries() },
        { _ = try $0.entry(named: "newsroom") },
        { _ = try $0.authenticEntry(named: "bob-phone") },
        { _ = try $0.recipient(named: "alice-phone") },
        { _ = try $0.enrolledDevice(named: "alice-phone") },
        { _ = try $0.unverifiedRecipient(named: "bob-phone") },
        { _ = try $0.sender(named: "newsroom") },
        { _ = try $0.senderKey(named: "newsroom") },
        { _ = try $0.activeSenders(named: "newsroom") },
        { _ = try $0.deviceKeys(named: "alice-phone") },
        { _ = try $0.trustList() },
        { _ = try $0.diagnose([], for: "alice-phone", topic: "com.example.app") },
        { _ = try $0.backup(under: .key(KeyringKey())) },
    ]

    @Test("refuses every change of a key with an error that names it, and is whole again once it is back")
    func refuses() throws {
        let changes: [(Keyring) throws -> Void] = [
            { try $0.rotate("newsroom") },
            { _ = try $0.performDueSteps(rotatingOlderThan: 0) },
            { try $0.retire("newsroom") },
            { try $0.revoke("alice-phone") },
            { try $0.erase("newsroom") },
            { try $0.rename("newsroom", to: "other") },
            { try $0.generateSender(named: "new") },
            { try $0.add(.device(Identity().recipient), named: "new") },
            { try $0.trust(.sender(SenderKey().sender), for: "com.example.app") },
            { try $0.seal(with: .key(KeyringKey())) },
            { try $0.seal(with: nil) },
            { _ = try $0.withSecretText(of: "newsroom") { _ in } },
        ]
        let before = try contents()
        for (index, change) in changes.enumerated() {
            #expect(throws: refusal, "change \(index)") { try change(keyring) }
        }
        #expect(try contents() == before)
        try seal.write(to: folder.appending("Keys/keyring.txt"))
        let sealed = Keyring(folder: folder.appending("Keys"), unlocking: .given(.key(key)))
        #expect(try sealed.deviceKeys(named: "alice-phone").count == 1)
        try sealed.rotate("newsroom")
    }

    @Test("refuses every read, whatever is read, where one file alone is still of the sealed keyring")
    func reads() throws {
        for (index, read) in Self.reads.enumerated() {
            #expect(throws: refusal, "read \(index)") { try read(keyring) }
        }
        // A stranger's file in place of each that is read, without a MAC; only the one that nobody reads is left.
        let strange = try TemporaryFolder()
        let stranger = Keyring(folder: strange.url)
        try stranger.generateSender(named: "newsroom")
        try stranger.generateDevice(named: "alice-phone", topic: "com.example.app")
        let files = FileManager.default
        for path in ["private/newsroom.txt", "private/alice-phone.txt", "audit-head.txt", "audit.jsonl"] {
            try files.removeItem(at: folder.appending("Keys/\(path)"))
            try files.copyItem(at: strange.appending(path), to: folder.appending("Keys/\(path)"))
        }
        for (index, read) in Self.reads.enumerated() {
            #expect(throws: refusal, "read \(index) of a stranger's file") { try read(keyring) }
        }
        // It may be damaged, too.
        let left = folder.appending("Keys/public/bob-phone.txt")
        try Data("???\n".utf8 + Data(contentsOf: left)).write(to: left)
        for (index, read) in Self.reads.enumerated() {
            #expect(throws: refusal, "read \(index) beside a damaged file") { try read(keyring) }
        }
        try files.removeItem(at: left)
        #expect(try keyring.entries().keys.count == 2)
    }

    @Test("is refused by a process that has read it before, unsealed or sealed")
    func meanwhile() throws {
        let open = Keyring(folder: folder.appending("Open"))
        try open.generateSender(named: "newsroom")
        _ = try open.senderKey(named: "newsroom")
        let file = folder.appending("Open/keyring.txt")
        try Keyring(folder: open.folder).seal(with: .key(key))
        #expect(throws: KeyringError.needsSecret(.key)) { try open.senderKey(named: "newsroom") }
        try FileManager.default.removeItem(at: file)
        #expect(throws: KeyringError.sealMissing(file)) { try open.senderKey(named: "newsroom") }
        #expect(throws: KeyringError.sealMissing(file)) { try open.entries() }
    }

    private func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for file in try Checkout.allFiles(in: folder.appending("Keys")) {
            contents[file.path] = try Data(contentsOf: file)
        }
        return contents
    }
}
