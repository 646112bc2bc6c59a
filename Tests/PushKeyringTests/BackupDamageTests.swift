import Foundation
import PushCrypto
import SealedPush
import TestSupport
import Testing
import _PushBase

@testable import PushKeyring

@Suite("A damaged backup")
struct BackupDamageTests {
    private let kept: KeptKeys
    private let secret = KeyringSecret.key(KeyringKey())
    private let backup: [UInt8]

    init() throws {
        kept = try KeptKeys(sealed: false)
        try kept.addEverything()
        backup = try kept.keyring.backup(under: secret, at: KeptKeys.day(20))
    }

    /// Into nothing: what is refused leaves no folder.
    private func isRefused(_ bytes: [UInt8], with secret: KeyringSecret? = nil) -> Bool {
        let target = kept.folder.appending("Refused")
        do throws(KeyringError) {
            _ = try Keyring(folder: target).restore(bytes, with: secret ?? self.secret)
            return false
        } catch {
            return error == .backup && !FileManager.default.fileExists(atPath: target.path)
        }
    }

    @Test("is refused for every bit that is flipped")
    func bits() {
        let walk = backup.indices.flatMap { index in
            (0..<8).filter { index % 4 == 0 || $0 == index % 8 }.map { (index: index, bit: $0) }
        }
        var random = SeededGenerator()
        for (index, bit) in Thoroughness.sample(1_000, of: walk, using: &random) {
            var bytes = backup
            bytes[index] ^= 1 << UInt8(bit)
            #expect(isRefused(bytes), "bit \(bit) of byte \(index)")
        }
    }

    @Test("is refused for every length that is not its own")
    func cuts() {
        var random = SeededGenerator()
        for count in Thoroughness.sample(500, of: Array(backup.indices), using: &random) {
            #expect(isRefused(Array(backup[..<count])), "\(count) bytes")
        }
        for more in ["\n", "A", "AAAA\n", "\r\n", "\0"] { #expect(isRefused(backup + Array(more.utf8))) }
        for index in stride(from: 0, to: backup.count, by: 17) {
            for byte in Array("\nA=".utf8) {
                var bytes = backup
                bytes.insert(byte, at: index)
                #expect(isRefused(bytes), "\(byte) at \(index)")
            }
        }
    }

    @Test("has the same answer as a wrong key, or a passphrase in place of a key")
    func wrongSecret() throws {
        #expect(isRefused(backup, with: .key(KeyringKey())))
        #expect(isRefused(backup, with: .passphrase(try #require(Passphrase([1])))))
        let copy = Keyring(folder: kept.folder.appending("Refused"))
        #expect(try !copy.restore(backup, with: secret, at: KeptKeys.day(20)).isEmpty)
    }

    @Test("under a passphrase is refused for every byte of its head that is changed")
    func passphraseHead() throws {
        let passphrase = KeyringSecret.passphrase(try #require(Passphrase(Array("correct horse".utf8))))
        let backup = try kept.keyring.backup(under: passphrase, at: KeptKeys.day(20))
        let head = try #require(String(decoding: backup, as: UTF8.self).firstRange(of: "\n\n"))
        let count = String(decoding: backup, as: UTF8.self)[..<head.lowerBound].utf8.count
        // Each costs a passphrase's 0.2 s where it goes that far.
        for index in stride(from: 0, through: count, by: 3 * Thoroughness.stride(4)) {
            var bytes = backup
            bytes[index] ^= 1
            #expect(isRefused(bytes, with: passphrase), "byte \(index)")
        }
    }

    @Test("that is large, or asks for much work, is refused at once")
    func limits() {
        let time = processorTime { expectLimits() }
        #expect(time < .seconds(5))
    }

    private func expectLimits() {
        #expect(isRefused(backup + [UInt8](repeating: 65, count: Keyring.maximumBackupByteCount)))
        let text = "sealedpush-backup: 1\nseal: passphrase\nsalt: AAAAAAAAAAAAAAAAAAAAAA\n"
        for cost in ["operations: 1000000\nmemory: 67108864", "operations: 3\nmemory: 99999999999", "memory: 67108864"]
        {
            let passphrase = Passphrase([1]).map { KeyringSecret.passphrase($0) }
            #expect(isRefused(Array((text + cost + "\n\nAAAA\n").utf8), with: passphrase))
        }
        #expect(throws: KeyringError.backup) { try Keyring.backupKind([]) }
        #expect(throws: KeyringError.backup) { try Keyring.backupKind(Array("sealedpush-backup: 1\n".utf8)) }
        #expect(throws: KeyringError.backup) { try Keyring.backupKind(Array("sealedpush-backup: 2\n".utf8) + backup) }
    }

    @Test("and any other one holds no secret: raw, in hex, in Base64 or in Bech32")
    func noSecrets() throws {
        let text = String(decoding: backup, as: UTF8.self)
        let body = try #require(text.split(separator: "\n\n", maxSplits: 1).last).replacing("\n", with: "")
        let sealed = try #require(Base64URL.decode(Array(body.utf8)))
        let secrets = try Keyring.secretTexts(in: kept.root)
        #expect(secrets.count >= 12)
        let haystacks = [backup, sealed, Array(body.utf8)]
        for secret in secrets {
            let bytes = try #require(secretBytes(secret))
            // Base64 of the middle, at each of the three places it can have in a group.
            let encoded = (0..<3).map { Array(Data(bytes[$0..<$0 + 27]).base64EncodedString().utf8) }
            let url = (0..<3).map { Array(Base64URL.encode(Array(bytes[$0..<$0 + 27])).utf8) }
            let needles =
                [Array(bytes[4..<20]), Array(Hex.encode(bytes).utf8), Array(Hex.encode(bytes).uppercased().utf8)]
                + [Array(secret.utf8.suffix(58)), Array(secret.lowercased().utf8.suffix(58))] + encoded + url
            for haystack in haystacks {
                for needle in needles { #expect(Data(haystack).range(of: Data(needle)) == nil) }
            }
        }
        // The search finds what is there.
        #expect(Data(backup).range(of: Data(Array(body.utf8.prefix(40)))) != nil)
    }

    @Test("that was sealed with nonsense in it is refused, and changes nothing")
    func nonsense() throws {
        guard case .key = secret else { return }
        var random = SeededGenerator()
        let seal = KeyringSeal(.key)
        let key = try seal.key(from: secret)
        let good = BackupContents.encode([
            BackupContents.File(path: "private/x.txt", bytes: Array("kind: device\n".utf8))
        ]).withBytes { Array($0) }
        for _ in 0..<300 {
            var bytes = good
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes = Array(bytes.prefix(Int.random(in: 1...bytes.count, using: &random)))
            default: bytes = random.bytes(Int.random(in: 1...60, using: &random))
            }
            let file = bytes.withUnsafeBytes { BackupFile.text(of: $0, seal: seal, under: key) }
            let target = kept.folder.appending("Nonsense")
            do throws(KeyringError) {
                // An empty one is a backup too.
                #expect(try Keyring(folder: target).restore(file, with: secret).isEmpty)
                try? FileManager.default.removeItem(at: target)
            } catch {
                #expect(error == .backup)
                #expect(try Keyring(folder: target).entries().keys.isEmpty)
            }
        }
    }
}
