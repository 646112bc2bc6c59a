import Foundation
import PushCrypto
import SealedPush
import TestSupport
import Testing
import _PushBase

@testable import PushKeyring

@Suite("A keyring's files and its lock")
struct KeyringFileTests {
    private let folder: TemporaryFolder
    private let files: KeyringFolder

    init() throws {
        folder = try TemporaryFolder()
        files = KeyringFolder(url: folder.appending("Keys"))
        try Keyring(folder: files.url).generateSender(named: "newsroom")
    }

    @Test("a keyring.txt that says more or less than a seal is damaged, whatever secret is named")
    func seals() throws {
        let passphrase = try #require(Passphrase(Array("correct horse".utf8)))
        for secret in [KeyringSecret.key(KeyringKey()), .passphrase(passphrase)] {
            let keyring = Keyring(folder: files.url)
            try keyring.seal(with: secret)
            let file = files.file(KeyringSeal.path)
            let text = try Checkout.text(file)
            let changes = [
                text.replacing("\nsalt: ", with: "\nmore: x\nsalt: "),
                text.replacing("\nmac: ", with: "\nmore: x\nmac: "),
                text.replacing(/mac: .*\n/, with: ""),
                secret.kind == .key
                    ? text.replacing("\nsalt: ", with: "\noperations: 3\nmemory: 67108864\nsalt: ")
                    : text.replacing(/operations: .*\n/, with: ""),
            ]
            for changed in changes {
                #expect(changed != text)
                try Data(changed.utf8).write(to: file)
                let opened = Keyring(folder: files.url, unlocking: .given(secret))
                #expect(throws: KeyringError.damaged(file)) { try opened.sealKind() }
                #expect(throws: KeyringError.damaged(file)) { try opened.senderKey(named: "newsroom") }
            }
            try Data(text.utf8).write(to: file)
            try Keyring(folder: files.url, unlocking: .given(secret)).seal(with: nil)
        }
    }

    @Test("a text file has nothing behind its MAC, which would not cover it, and no name twice in a paragraph")
    func texts() {
        func isRead(_ text: String) -> Bool {
            guard let file = TextFile(parsing: Array(text.utf8)) else { return false }
            return file.paragraphCount > 0
        }
        let mac = "mac: \(Base64URL.encode([UInt8](repeating: 7, count: 32)))\n"
        #expect(isRead("name: a\n" + mac))
        for more in ["name: b\n", "other: b\n", "\nother: b\n", "\n\n", "# b\n", mac] {
            #expect(!isRead("name: a\n" + mac + more), "\(more)")
        }
        #expect(isRead("name: a\n\nname: b\n" + mac))
        #expect(!isRead("name: a\nname: b\n" + mac) && !isRead("name: a\n\nother: b\nname: c\nname: d\n"))
    }

    /// Whether somebody else could lock the keyring now.
    private func canLock(_ kind: Int32) -> Bool {
        let descriptor = open(files.file("lock").path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        return descriptor >= 0 && flock(descriptor, kind | LOCK_NB) == 0
    }

    @Test("who changes a keyring keeps everybody off, and who reads it whoever would change it")
    func kinds() throws {
        try files.changing { (_) throws(KeyringError) in #expect(!canLock(LOCK_SH)) }
        try files.reading { () throws(KeyringError) in #expect(canLock(LOCK_SH) && !canLock(LOCK_EX)) }
        #expect(canLock(LOCK_EX))
    }

    /// How many of this process's descriptors are of the lock that lies there now.
    private func lockCount() -> Int {
        var (named, status) = (stat(), stat())
        guard lstat(files.file("lock").path, &named) == 0 else { return 0 }
        return (0..<16_384).count {
            fstat($0, &status) == 0 && status.st_ino == named.st_ino && status.st_dev == named.st_dev
        }
    }

    @Test(
        "a lock that was removed while it was waited for holds nobody off: the new one is waited for",
        arguments: [true, false])
    func removed(isChange: Bool) async throws {
        let url = files.url
        let first = try FolderLock.exclusive(url)
        let waiting = Locked<FolderLock?>(nil)
        Thread.detachNewThread {
            // On a busy machine, a minute's patience may be over before the test has looked.
            var lock: FolderLock?
            while lock == nil { lock = isChange ? try? FolderLock.exclusive(url) : try? FolderLock.shared(url) }
            waiting.withLock { [lock] in $0 = lock }
        }
        try await eventually("who waits for the first lock") { lockCount() == 2 }
        #expect(unlink(files.file("lock").path) == 0)
        let second = try FolderLock.exclusive(url)
        first.release()
        try await eventually("who waits for the second lock") { lockCount() == 2 || waiting.withLock { $0 != nil } }
        #expect(waiting.withLock { $0 == nil }, "two hold the keyring")
        second.release()
        try await eventually("the lock") { waiting.withLock { $0 != nil } }
        waiting.withLock { $0 }?.release()
    }

    #if os(Linux)
        @Test("of the files that are looked at to see whether they are of a sealed keyring, nothing stays in memory")
        func lookedAt() throws {
            let scan = MemoryScan()
            let file = files.file("private/other.txt")
            // Its end lies where no later file is read to.
            try Data(repeating: UInt8(ascii: "#"), count: 40_000).write(to: file)
            let descriptor = open(file.path, O_WRONLY | O_APPEND | O_CLOEXEC)
            #expect(write(descriptor, scan.secret.baseAddress, scan.secret.count) == scan.secret.count)
            close(descriptor)
            #expect(try Keyring(folder: files.url).sealKind() == nil)
            let left = scan.copyCount()
            #expect(left == 0)
        }
    #endif
}
