import Foundation
import PushKeyring
import SealedPush
import TestSupport
import Testing

@Suite("Files of a keyring that a fuzzer found")
struct FoundFilesTests {
    private let folder: TemporaryFolder
    private let key = KeyringKey()
    private let topic: Topic = "com.example.app"

    init() throws { folder = try TemporaryFolder() }

    private var url: URL { folder.appending("Keys") }
    private var keyring: Keyring { Keyring(folder: url) }

    private func make(isSealed: Bool) throws -> Keyring {
        try? FileManager.default.removeItem(at: url)
        let keyring = Keyring(folder: url, unlocking: isSealed ? .given(.key(key)) : nil)
        try keyring.generateDevice(named: "phone", topic: topic)
        try keyring.generateDevice(named: "watch")
        let sender = try keyring.generateSender(named: "newsroom")
        try keyring.generateAuthority(named: "root")
        try keyring.add(.device(Identity().recipient), named: "pal")
        try keyring.trust(.sender(sender), for: topic)
        return keyring
    }

    private func write(_ bytes: some Sequence<UInt8>, to path: String) throws {
        let file = url.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
    }

    @Test("they stop nothing but themselves, and no call ends the process")
    func found() throws {
        let files = try Checkout.files(in: "Tests/FuzzRegressions/fuzz-keyring", ending: "")
        #expect(files.count >= 6)
        for file in files {
            let input = Array(try Data(contentsOf: file))
            let choice = try #require(input.first)
            // Alterations are the fuzzer's own to make; the files here are whole.
            guard choice & 0x20 == 0 else { continue }
            let keyring = try make(isSealed: choice & 0x80 != 0)
            let path = Self.paths[Int(choice & 31)]
            try write(input.dropFirst(), to: path)
            let found = Result { try keyring.entries() }
            if case .failure(KeyringError.sealMissing) = found {
                // A file of a sealed keyring in one that is not: nothing in it is believed.
                #expect(choice & 0x80 == 0, "\(file.lastPathComponent)")
                continue
            }
            #expect(try found.get().errors.count <= 1, "\(file.lastPathComponent)")
            guard !path.hasSuffix("keyring.txt") else { continue }
            try keyring.rotate("watch")
            try keyring.generateSender(named: "fresh")
            for name in ["phone", "newsroom", "root", "pal"] as [KeyName] {
                _ = try? keyring.deviceKeys(named: name)
                _ = try? keyring.signSenderSet(of: [SenderKey().sender], topic: topic, by: name, lifetime: 1)
                _ = try? keyring.rotate(name)
                if let revoked = try? keyring.revoke(name) {
                    let found = try keyring.entry(named: name).keys.first { revoked.contains($0.key) }
                    #expect(found?.life.state == .revoked, "\(file.lastPathComponent)")
                }
            }
        }
    }

    @Test("a secret that is longer than any key costs its own file only")
    func longSecret() throws {
        let keyring = try make(isSealed: false)
        let file = url.appending(path: "private/phone.txt")
        let text = try Checkout.text(file)
        for count in [91, 65_536, 65_537, 200_000] {
            let secret = "secret: \(String(repeating: "A", count: count))\n"
            for name in ["\nsecret: ", "\nenrolment-secret: "] {
                let line = try #require(text.split(separator: name).last).prefix { $0 != "\n" }
                let long = text.replacing("\(name)\(line)\n", with: "\(name.dropLast(8))\(secret)")
                #expect(long.utf8.count > count)
                try write(long.utf8, to: "private/phone.txt")
                #expect(throws: KeyringError.damaged(file)) { try keyring.deviceKeys(named: "phone") }
                #expect(try keyring.entries().errors == [.damaged(file)])
            }
        }
    }

    @Test("own keys without their secrets, and secrets among the keys of others, are damaged")
    func wrongPlace() throws {
        let keyring = try make(isSealed: false)
        let own = url.appending(path: "private/watch.txt")
        let text = try Checkout.text(own)
        try write(text.utf8, to: "public/pal.txt")
        #expect(throws: KeyringError.damaged(url.appending(path: "public/pal.txt"))) { try keyring.revoke("pal") }
        try write(text.replacing(/secret: .*\n/, with: "").utf8, to: "private/watch.txt")
        #expect(throws: KeyringError.damaged(own)) { try keyring.revoke("watch") }
    }

    @Test("an audit head at the end of its count, or altered under a seal, is not gone on from")
    func auditHead() throws {
        for (isSealed, count) in [(false, "\(Int.max)"), (true, "40"), (true, "\(Int.max)")] {
            let keyring = try make(isSealed: isSealed)
            let head = try Checkout.text(url.appending(path: "audit-head.txt"))
            try write(head.replacing(/count: [0-9]+/, with: "count: \(count)").utf8, to: "audit-head.txt")
            try keyring.rotate("watch")
            #expect(try Checkout.text(url.appending(path: "audit-head.txt")).contains("\ncount: 1\n"))
        }
    }

    @Test("a change that was cut off is finished, however long its audit lines and whatever else is in it")
    func staged() throws {
        let keyring = try make(isSealed: false)
        let lines = (0..<2_000).map { "{\"line\":\($0),\"x\":\"\(String(repeating: "x", count: 150))\"}\n" }.joined()
        try write(lines.utf8, to: "changing/audit.jsonl")
        try write([UInt8](repeating: 0x23, count: 262_145), to: "changing/private/other.txt")
        #expect(try keyring.entries().errors == [.damaged(url.appending(path: "changing/private/other.txt"))])
        try keyring.rotate("watch")
        #expect(try Checkout.text(url.appending(path: "audit.jsonl")).contains(lines))
        #expect(try keyring.entries().errors == [.damaged(url.appending(path: "private/other.txt"))])
    }

    /// As Fuzzing/Sources/fuzz-keyring/LaidFile.swift has them.
    private static let paths = [
        "private/phone.txt", "changing/private/root.txt", "private/newsroom.txt", "private/root.txt",
        "public/friend.txt", "public/pal.txt", "trust.txt", "keyring.txt", "audit-head.txt", "audit.jsonl",
        "changing/private/phone.txt", "changing/private/newsroom.txt", "changing/public/friend.txt",
        "changing/trust.txt", "changing/keyring.txt", "changing/audit-head.txt", "changing/audit.jsonl",
        "private/pal.txt", "public/phone.txt", "changing/private/other.txt",
    ]
}
