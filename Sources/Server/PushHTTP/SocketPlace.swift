internal import Foundation
internal import NIOCore
internal import PushCore

/// A Unix socket's path, which one service holds while it keeps this object. NIO removes any existing socket at the path
/// that it binds, even one in use, and its own when it closes. So a permanent lock file next to the path marks it as taken.
///
/// A socket belongs to its user alone. In a folder whose owner shares it with its group, that group may also connect.
final class SocketPlace: Sendable {
    private let lock: Int32
    private let path: String
    private let bound = Locked<FileIdentity?>(nil)

    /// - Throws: `notBound` if another service listens there, if something else is there, or if other users can write to
    ///   the folder. They could put their own socket in its place and receive everything that callers send.
    init(_ path: String) throws(ServingError) {
        guard path.utf8.count <= Self.maximumByteCount
        else { throw .notBound("its path is longer than \(Self.maximumByteCount) bytes, the maximum for a socket") }
        try Self.requireOwnFolder(of: path)
        try Self.requireFree(path)
        let lock = open(path + ".lock", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw .notBound(Self.words(errno)) }
        // The system releases the lock when the process ends for any reason.
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(lock)
            throw code == EWOULDBLOCK ? Self.inUse : .notBound(Self.words(code))
        }
        self.lock = lock
        self.path = path
    }

    /// Remembers the socket, once it's bound.
    func remember() { bound.withLock { $0 = FileIdentity(path) } }

    /// Whether the socket that was bound is still at its path, where callers find it.
    var isThere: Bool { bound.withLock { $0 == nil || $0 == FileIdentity(path) } }

    deinit {
        // Unlocked explicitly, because a child that is about to exec another program still has the descriptor.
        flock(lock, LOCK_UN)
        close(lock)
    }

    /// Lets the folder's group connect, if the folder is shared with it. Call this once the socket is bound: until then, its
    /// mode is the process's.
    ///
    /// Returns false if the system refuses; the socket is then still the user's alone.
    func share() -> Bool {
        var facts = stat()
        guard stat(DurableFiles.folder(of: path), &facts) == 0 else { return false }
        return !DurableFiles.isSharedWithGroup(facts) || chmod(path, 0o660) == 0
    }

    private static func requireOwnFolder(of path: String) throws(ServingError) {
        let folder = DurableFiles.folder(of: path)
        guard access(folder, F_OK) == 0 else { throw .notBound(words(errno)) }
        let exposure: Exposure?
        do throws(DurableFiles.Failure) { exposure = try Exposure.ofFolder(folder) } catch {
            throw .notBound(error.message)
        }
        guard let exposure else { return }
        throw .notBound(
            exposure.kind == .owner
                ? "the folder \(exposure.path) belongs to another user, who could replace the socket; use a folder of your own"
                : "other users can write to its folder, \(exposure.path), and replace the socket; use a folder of your own"
        )
    }

    /// A socket left by a killed service is free; anything except a socket belongs to someone else.
    private static func requireFree(_ path: String) throws(ServingError) {
        var facts = stat()
        guard lstat(path, &facts) == 0 else {
            guard errno == ENOENT else { throw .notBound(words(errno)) }
            return
        }
        guard facts.st_mode & S_IFMT == S_IFSOCK else { throw .notBound("something other than a socket is there") }
        guard !isAlive(path) else { throw inUse }
    }

    /// Whether any program accepts connections there, including one that doesn't use the lock.
    private static func isAlive(_ path: String) -> Bool {
        #if canImport(Darwin)
        let kind = SOCK_STREAM
        #else
        let kind = Int32(SOCK_STREAM.rawValue)
        #endif
        guard let address = try? SocketAddress(unixDomainSocketPath: path) else { return true }
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        // A socket with a full queue would block.
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        let status = address.withSockAddr { connect(descriptor, $0, socklen_t($1)) }
        let code = errno
        return status == 0 || ![ECONNREFUSED, ENOENT].contains(code)
    }

    private static let inUse = ServingError.notBound(
        "another service listens there; stop it first, or use another socket")

    private static func words(_ code: Int32) -> String { String(cString: strerror(code)) }

    /// The limit in NIO.
    private static let maximumByteCount = 103
}
