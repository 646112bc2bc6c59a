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
        seal = try Data(contentsOf: folder.appending("Keys/keyring.txt"))
        try FileManager.default.removeItem(at: folder.appending("Keys/keyring.txt"))
    }

    /// As of commands without an option: nobody says that it should be sealed.
    private var keyring: Keyring { Keyring(folder: folder.appending("Keys")) }

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
            let error = #expect(throws: KeyringError.self) { try change(keyring) }
            guard case .file(let file, _)? = error else {
                Issue.record("change \(index): \(String(describing: error))")
                continue
            }
            #expect(file.lastPathComponent == "keyring.txt")
        }
        #expect(try contents() == before)
        try seal.write(to: folder.appending("Keys/keyring.txt"))
        let sealed = Keyring(folder: folder.appending("Keys"), unlocking: .given(.key(key)))
        #expect(try sealed.deviceKeys(named: "alice-phone").count == 1)
        try sealed.rotate("newsroom")
    }

    private func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for file in try Checkout.allFiles(in: folder.appending("Keys")) {
            contents[file.path] = try Data(contentsOf: file)
        }
        return contents
    }
}
