import Foundation
import PushCore
import PushKeyring
import PushSender
import SealedPush
import TestSupport
import Testing

/// A keyring with everything that one can contain, and the peers that it works with.
struct KeptKeys {
    static let topic: Topic = "com.example.app"
    static let start = Timestamp(secondsSince1970: 1_760_000_000)!
    static func day(_ days: Int64) -> Timestamp { start.advanced(bySeconds: days * 86_400) }

    let folder: TemporaryFolder
    /// Nil for an unsealed keyring.
    let key: KeyringKey?

    /// A healthy keyring.
    init(sealed: Bool = true) throws {
        folder = try TemporaryFolder()
        key = sealed ? KeyringKey() : nil
        let (keyring, topic, start) = (keyring, Self.topic, Self.start)
        try keyring.generateDevice(named: "alice-phone", topic: topic, at: start)
        let sender = try keyring.generateSender(named: "newsroom", at: start)
        try keyring.trust(.sender(sender), for: topic, at: start)
        try addBob()
        try keyring.add(.sender(SenderPrivateKey().sender), named: "weather", at: start)
    }

    var root: URL { folder.appending("Keys") }
    var keyring: Keyring { keyring(at: root) }

    func keyring(at folder: URL) -> Keyring {
        Keyring(folder: folder, unlocking: key.map { .given(.key($0)) }, command: "test")
    }

    func file(_ path: String) -> URL { root.appending(path: path) }

    /// Another owner's device, which has proven its key.
    private func addBob() throws {
        let phone = Keyring(folder: folder.appending("Bob"))
        try phone.generateDevice(named: "phone", topic: Self.topic, at: Self.start)
        let record = try #require(try phone.entry(named: "phone").record)
        try keyring.add(record, named: "bob-phone", at: Self.start)
        let challenge = try keyring.challenge("bob-phone", from: "newsroom", at: Self.start)
        let answer = try phone.answer(challenge.text, for: "phone", trusting: [keyring.sender(named: "newsroom")])
        _ = try keyring.acceptAnswer(answer, of: "bob-phone", at: Self.start)
    }

    /// Every kind and state that a key can have.
    func addEverything() throws {
        let (keyring, topic) = (keyring, Self.topic)
        let day = Self.day
        // Two active keys.
        try keyring.rotate("alice-phone", at: day(1))
        try keyring.rotate("newsroom", at: day(1))
        // Erased, retired and active.
        try keyring.generateDevice(named: "old-phone", topic: topic, at: day(0))
        for (index, time) in [1, 10].enumerated() {
            try keyring.rotate("old-phone", at: day(Int64(time)))
            try keyring.confirm("old-phone", at: day(Int64(time) + 1))
            if index == 0 {
                let first = try #require(try keyring.entry(named: "old-phone").keys.last)
                try keyring.erase("old-phone", key: first.key.keyID, at: day(3))
            }
        }
        // Revoked only, with an enrollment key and without.
        try keyring.generateDevice(named: "lost-phone", topic: topic, at: day(0))
        try keyring.revoke("lost-phone", at: day(1))
        try keyring.generateSender(named: "lost-sender", at: day(0))
        try keyring.revoke("lost-sender", at: day(1))
        let authority = try keyring.generateAuthority(named: "authority", at: day(0))
        let set = try keyring.signSenderSet(
            of: [keyring.sender(named: "newsroom")], topic: topic, by: "authority", lifetime: 400 * 86_400, at: day(1))
        try keyring.trust(.authority(authority), for: topic, at: day(1))
        try keyring.trust(.senderSet(set), for: topic, at: day(1))
        try keyring.add(.device(DevicePrivateKey().recipient), named: "carol", at: day(1))
    }

    /// Every file with its bytes, its mode, and its modification time.
    func snapshot(of folder: URL? = nil) throws -> [String: String] {
        let root = folder ?? root
        var files: [String: String] = [:]
        guard let walker = FileManager.default.enumerator(atPath: root.path) else { return [:] }
        for case let path as String in walker {
            let file = root.appending(path: path)
            let facts = try FileManager.default.attributesOfItem(atPath: file.path)
            let bytes = (try? Data(contentsOf: file).base64EncodedString()) ?? ""
            files[path] =
                "\(facts[.type] ?? "") \(facts[.posixPermissions] ?? "") \(facts[.modificationDate] ?? "") \(bytes)"
        }
        return files
    }
}

extension Keyring {
    /// All secret texts in the files of an unsealed keyring.
    static func secretTexts(in folder: URL) throws -> Set<String> {
        var texts: Set<String> = []
        for file in try Checkout.allFiles(in: folder) {
            for match in try Checkout.text(file).matches(of: /PUSH-[A-Z-]+-1[A-Z0-9]{58}/) {
                texts.insert(String(match.output))
            }
        }
        return texts
    }
}

/// Some of the ways to flip a bit of a file, and to truncate it. In a thorough run, there are many: yield between them.
func damages(of good: [UInt8], bitCount: Int, cutCount: Int) -> [[UInt8]] {
    var random = SeededGenerator()
    let changed = Thoroughness.sample(bitCount, of: Array(0..<8 * good.count), using: &random).map { bit in
        var changed = good
        changed[bit / 8] ^= 1 << UInt8(bit % 8)
        return changed
    }
    return changed + Thoroughness.sample(cutCount, of: Array(0..<good.count), using: &random).map { Array(good[..<$0]) }
}

func passphrase(_ text: String) throws -> KeyringSecret { .passphrase(try #require(Passphrase(Array(text.utf8)))) }
