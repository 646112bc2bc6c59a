import Foundation
internal import PushCore
internal import SealedPush

/// A keyring's folder on disk. Several processes may read and change it at once, and any may be killed at any moment.
///
/// `keyring.txt` holds the whole keyring. A change writes it aside, syncs it and renames it, under a lock on the file
/// `lock`; readers read that one file and need no lock. See Docs/Decisions/0013-a-keyring-is-one-file.md.
struct KeyringFolder: Sendable {
    let url: URL

    static let keyringName = "keyring.txt"
    static let logName = "audit.jsonl"
    private static let lockName = "lock"
    /// What a change that was never made begins with.
    static let unfinishedPrefix = "tmp."

    var keyring: URL { url.appending(path: Self.keyringName) }
    var log: URL { url.appending(path: Self.logName) }

    /// The bytes of `keyring.txt`, which the caller wipes; nil if there is no such file. Links are refused.
    func read() throws(KeyringError) -> [UInt8]? {
        do throws(DurableFiles.Failure) {
            let bytes = try DurableFiles.read(keyring, limit: TextFile.maximumByteCount + 1, followsLinks: false)
            guard bytes.count <= TextFile.maximumByteCount else { throw DurableFiles.Failure(code: EFBIG) }
            return bytes
        } catch {
            switch error.code {
            case ENOENT: return nil
            case ELOOP: throw .file(keyring, message: "this is a link, and a keyring's file must not be one")
            case EINVAL: throw .file(keyring, message: "this is not a regular file")
            case EFBIG: throw .file(keyring, message: "it has more than \(TextFile.maximumByteCount) bytes")
            default: throw .file(keyring, message: error.message)
            }
        }
    }

    /// Runs `body` while no other process changes the keyring.
    func locked<Answer>(_ body: () throws(KeyringError) -> Answer) throws(KeyringError) -> Answer {
        try system(url) { () throws(DurableFiles.Failure) in try Self.makeFolder(url) }
        let lock = try lock()
        defer { close(lock) }
        // What a killed change has left may hold secrets.
        DurableFiles.removeUnfinished(in: url, untouchedFor: -1)
        return try body()
    }

    /// Makes these bytes the keyring. They are on the disk when this returns; if it throws, nothing has changed.
    func write(_ bytes: [UInt8]) throws(KeyringError) {
        guard bytes.count <= TextFile.maximumByteCount else {
            throw .file(keyring, message: "it would have more than \(TextFile.maximumByteCount) bytes")
        }
        try system(url) { () throws(DurableFiles.Failure) in
            let ignored = url.appending(path: ".gitignore")
            if access(ignored.path(percentEncoded: false), F_OK) != 0 {
                _ = try DurableFiles.create(ignored, holding: Array(Self.ignoredNames.utf8), staging: url)
            }
            try DurableFiles.replace(keyring, with: bytes, mode: 0o600)
        }
    }

    /// A descriptor with a lock on it: flock(2) on a file that is never renamed or removed.
    private func lock() throws(KeyringError) -> Int32 {
        let file = url.appending(path: Self.lockName)
        let descriptor = open(
            file.path(percentEncoded: false), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .file(file, message: String(cString: strerror(errno))) }
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

    /// Makes a folder and those that it lies in, each of them to last.
    static func makeFolder(_ folder: URL, mode: UInt16 = 0o755) throws(DurableFiles.Failure) {
        do throws(DurableFiles.Failure) { try DurableFiles.ensureFolder(folder, mode: mode) } catch {
            let parent = folder.deletingLastPathComponent()
            guard error.code == ENOENT, parent.path.count < folder.path.count else { throw error }
            try makeFolder(parent, mode: mode)
            try DurableFiles.ensureFolder(folder, mode: mode)
        }
    }

    func system(_ place: URL, _ body: () throws(DurableFiles.Failure) -> Void) throws(KeyringError) {
        do { try body() } catch {
            throw .file(place, message: error.code == EINVAL ? "this is not a regular file" : error.message)
        }
    }

    private static let ignoredNames = "keyring.txt\naudit.jsonl\nlock\ntmp.*\n"
    /// A change takes milliseconds. A process that holds the lock for longer hangs.
    private static let patience = Duration.seconds(60)
}
