import Foundation
internal import PushCore

/// A keyring's folder on disk. Several processes can read and change it at the same time, and any can be killed at any
/// moment. `keyring.txt` contains the whole keyring. A change writes a new file, syncs it, and renames it, under a lock on
/// the file `lock`. Readers read only `keyring.txt` and need no lock. See Docs/Decisions/0013-a-keyring-is-one-file.md.
struct KeyringFolder: Sendable {
    let url: URL

    static let keyringName = "keyring.txt"
    static let logName = "audit.jsonl"

    var keyring: URL { url.appending(path: Self.keyringName) }
    var log: URL { url.appending(path: Self.logName) }

    /// Returns the bytes of `keyring.txt`, which the caller must wipe, or nil if it doesn't exist. Rejects links.
    ///
    /// - Parameter exposure: set to the reason not to use its secrets unless they are sealed.
    func read(exposure: inout KeyringError?) throws(KeyringError) -> [UInt8]? {
        do throws(DurableFiles.Failure) {
            let descriptor = try DurableFiles.opened(keyring, anyKind: false, followsLinks: false)
            defer { close(descriptor) }
            let bytes = try DurableFiles.readAll(descriptor, limit: TextFile.maximumByteCount + 1)
            guard bytes.count <= TextFile.maximumByteCount else { throw DurableFiles.Failure(code: EFBIG) }
            exposure = try self.exposure(of: descriptor).map { .exposed(keyring, message: $0.description) }
            return bytes
        } catch {
            if error.code == ENOENT { return nil }
            throw .system(keyring, error)
        }
    }

    private func exposure(of descriptor: Int32) throws(DurableFiles.Failure) -> Exposure? {
        let secret = try Exposure.ofSecret(descriptor, at: keyring.path(percentEncoded: false))
        return if let secret { secret } else { try Exposure.ofFolder(url.path(percentEncoded: false)) }
    }

    /// Runs `body` while no other process can change the keyring. Throws `notPermitted` if root would create files in another
    /// user's folder: a service that runs as that user couldn't read the keyring anymore.
    func locked<Answer>(_ body: () throws(KeyringError) -> Answer) throws(KeyringError) -> Answer {
        if geteuid() == 0, let facts = FileFacts(of: url, following: true), facts.owner != 0 {
            throw .notPermitted(url, message: "it belongs to another user, who couldn't read files that root creates")
        }
        do throws(DurableFiles.Failure) { try Self.makeFolder(url) } catch { throw .system(url, error) }
        let lock = try lock()
        defer { close(lock) }
        // Files left by an interrupted change may contain secrets.
        DurableFiles.removeUnfinished(in: url, untouchedFor: -1)
        return try body()
    }

    /// Replaces the keyring with these bytes. They're durable on return; if it throws, nothing has changed.
    func write(_ bytes: [UInt8]) throws(KeyringError) {
        guard bytes.count <= TextFile.maximumByteCount else {
            throw .system(keyring, DurableFiles.Failure(code: EFBIG))
        }
        do throws(DurableFiles.Failure) {
            let ignored = url.appending(path: ".gitignore")
            if access(ignored.path(percentEncoded: false), F_OK) != 0 {
                _ = try DurableFiles.create(ignored, holding: Array(Self.ignoredNames.utf8), staging: url)
            }
            try DurableFiles.replace(keyring, with: bytes, mode: 0o600)
        } catch { throw .system(url, error) }
    }

    /// Returns a locked descriptor: flock(2) on a file that is never renamed or removed.
    private func lock() throws(KeyringError) -> Int32 {
        let file = url.appending(path: "lock")
        let descriptor = open(
            file.path(percentEncoded: false), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .system(file, DurableFiles.Failure(code: errno)) }
        let deadline = ContinuousClock.now.advanced(by: Self.patience)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            guard code == EWOULDBLOCK || code == EINTR, ContinuousClock.now < deadline else {
                close(descriptor)
                if code == EWOULDBLOCK { throw .busy(url) }
                throw .file(file, message: String(cString: strerror(code)))
            }
            usleep(2_000)
        }
        return descriptor
    }

    /// Creates a folder and its parents durably.
    static func makeFolder(_ folder: URL, mode: UInt16 = 0o755) throws(DurableFiles.Failure) {
        do throws(DurableFiles.Failure) { try DurableFiles.ensureFolder(folder, mode: mode) } catch {
            let parent = folder.deletingLastPathComponent()
            guard error.code == ENOENT, parent.path.count < folder.path.count else { throw error }
            try makeFolder(parent, mode: mode)
            try DurableFiles.ensureFolder(folder, mode: mode)
        }
    }

    private static let ignoredNames = "keyring.txt\naudit.jsonl\nlock\ntmp.*\n"
    /// A change takes milliseconds. A process that holds the lock for longer has hung.
    private static let patience = Duration.seconds(60)
}
