import Foundation
internal import _PushBase

/// A lock on a keyring's folder, held until it is released or the process ends: flock(2) on the file `lock`.
struct FolderLock {
    private let descriptor: Int32

    /// For reading; nil where nobody has ever changed the keyring, or the folder can't be locked by this user: then
    /// files are read as they stand, each whole.
    static func shared(_ folder: URL) throws(KeyringError) -> FolderLock? {
        while true {
            let descriptor = open(
                file(folder).path(percentEncoded: false), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
            guard descriptor >= 0 else { return nil }
            let lock = try wait(descriptor, LOCK_SH, folder)
            if lock.isInPlace(folder) { return lock }
            lock.release()
        }
    }

    /// For changing.
    static func exclusive(_ folder: URL) throws(KeyringError) -> FolderLock {
        while true {
            let descriptor = open(
                file(folder).path(percentEncoded: false), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW,
                0o644)
            guard descriptor >= 0 else { throw .file(file(folder), message: String(cString: strerror(errno))) }
            let lock = try wait(descriptor, LOCK_EX, folder)
            if lock.isInPlace(folder) { return lock }
            lock.release()
        }
    }

    /// Whether what was locked is still the file of that name: one that was removed meanwhile holds nobody off.
    private func isInPlace(_ folder: URL) -> Bool {
        var own = stat()
        var named = stat()
        return fstat(descriptor, &own) == 0 && lstat(Self.file(folder).path(percentEncoded: false), &named) == 0
            && own.st_ino == named.st_ino && own.st_dev == named.st_dev
    }

    func release() { close(descriptor) }

    private static func wait(_ descriptor: Int32, _ kind: Int32, _ folder: URL) throws(KeyringError) -> FolderLock {
        let deadline = ContinuousClock.now.advanced(by: patience)
        while flock(descriptor, kind | LOCK_NB) != 0 {
            let code = errno
            guard code == EWOULDBLOCK || code == EINTR, ContinuousClock.now < deadline else {
                close(descriptor)
                if code == EWOULDBLOCK { throw .busy(folder) }
                throw .file(file(folder), message: String(cString: strerror(code)))
            }
            usleep(pause)
        }
        return FolderLock(descriptor: descriptor)
    }

    private static func file(_ folder: URL) -> URL { folder.appending(path: "lock") }

    /// A change takes milliseconds; who holds the lock for longer hangs.
    private static let patience = Duration.seconds(60)
    /// Microseconds.
    private static let pause: UInt32 = 2_000
}
