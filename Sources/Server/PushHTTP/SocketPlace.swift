internal import Foundation
internal import NIOCore
internal import PushCore

/// A Unix socket's place, which one service has at a time, from its making to ``release()``.
///
/// NIO removes whatever socket it finds where it is to bind, and again when it closes. So a lock beside the place says that a
/// service has it, and the socket is bound under another name and gets its own by a rename: what stands there is taken away by
/// whoever has put it there, and by nobody else.
final class SocketPlace: Sendable {
    /// What to bind; not seen by callers.
    let bound: String
    private let path: String
    private let lock: Int32
    private let state = Locked(State())

    private struct State {
        /// Of the socket that was put there.
        var own: HeldFile?
        var failure: String?
        var isReleased = false
    }

    /// - Throws: `notBound` where another service listens, where something else stands there, and where others may write the
    ///   folder: they could put a socket of theirs in its place, and would be told all that callers say.
    init(_ path: String) throws(ServingError) {
        self.path = path
        bound = path + ".new"
        guard bound.utf8.count <= Self.maximumByteCount else {
            throw .notBound("its path is longer than \(Self.maximumByteCount - 4) bytes, which a socket's can't be")
        }
        try Self.requireOwnFolder(of: path)
        let lock = try Self.locked(path + ".lock")
        do throws(ServingError) { try Self.requireFree(path) } catch {
            Self.unlock(lock, path + ".lock")
            throw error
        }
        self.lock = lock
    }

    /// Gives the bound socket its name, in one step; false where that could not be, and then ``failure`` says why.
    func show() -> Bool {
        state.withLock { state in
            guard let own = HeldFile(at: bound), rename(bound, path) == 0 else {
                state.failure = Self.words(errno)
                return false
            }
            state.own = own
            return true
        }
    }

    var failure: String? { state.withLock { $0.failure } }

    /// Takes its own socket away, and lets another service have the place. May be repeated.
    func release() {
        state.withLock { state in
            guard !state.isReleased else { return }
            state.isReleased = true
            if let own = state.own, own.id == FileID(at: path) { unlink(path) }
            state.own = nil
            Self.unlock(lock, path + ".lock")
        }
    }

    deinit { release() }

    // MARK: Looking first

    private static func requireOwnFolder(of path: String) throws(ServingError) {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard access(folder, F_OK) == 0 else { throw .notBound(words(errno)) }
        switch DurableFiles.stranger(in: URL(filePath: folder)) {
        case nil: break
        case .owner?:
            throw .notBound(
                "its folder belongs to another user, who could put a socket of theirs there: use one of your own")
        case .writers?:
            throw .notBound("others may write its folder, and put a socket of theirs there: use a folder of your own")
        }
    }

    /// What a service has left that was killed is free; what is no socket is somebody's file.
    private static func requireFree(_ path: String) throws(ServingError) {
        guard let found = FileID(at: path) else {
            guard errno == ENOENT else { throw .notBound(words(errno)) }
            return
        }
        guard found.isSocket else { throw .notBound("something other than a socket is there") }
        guard !isAlive(path) else { throw inUse }
    }

    /// Whether anybody accepts connections there: another program, which knows nothing of the lock.
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
        // One whose queue is full would keep us waiting.
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        let status = address.withSockAddr { connect(descriptor, $0, socklen_t($1)) }
        let code = errno
        return status == 0 || ![ECONNREFUSED, ENOENT].contains(code)
    }

    // MARK: The lock

    /// The system lets go of it when the process ends, however that is.
    private static func locked(_ path: String) throws(ServingError) -> Int32 {
        while true {
            let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw .notBound(words(errno)) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let code = errno
                close(descriptor)
                throw code == EWOULDBLOCK ? inUse : .notBound(words(code))
            }
            // Whoever had it may have removed the file in between; then it keeps nobody out.
            if let own = FileID(of: descriptor), own == FileID(at: path) { return descriptor }
            close(descriptor)
        }
    }

    private static func unlock(_ lock: Int32, _ path: String) {
        unlink(path)
        // Said aloud: a child that is about to become another program still has the descriptor.
        flock(lock, LOCK_UN)
        close(lock)
    }

    private static let inUse = ServingError.notBound(
        "another service listens there: stop it first, or use another socket")

    private static func words(_ code: Int32) -> String { String(cString: strerror(code)) }

    /// What NIO takes.
    private static let maximumByteCount = 103
}
