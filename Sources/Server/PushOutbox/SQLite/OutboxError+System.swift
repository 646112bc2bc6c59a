internal import GRDB
internal import PushCore

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

extension OutboxError {
    /// Creates the error for a failed system call, or returns nil if its error number has no case of its own.
    init?(errno code: Int32) {
        switch code {
        case EROFS, EACCES, EPERM: self = .readOnly(Self.words(code))
        case ENOSPC, EDQUOT, EFBIG: self = .diskFull
        case EMFILE, ENFILE: self = .tooManyOpenFiles
        default: return nil
        }
    }

    /// Creates the error for a call that opens or makes the outbox's file.
    init(opening code: Int32) { self = OutboxError(errno: code) ?? .cannotOpen(Self.words(code)) }

    /// - Parameter code: `errno` after the failure, on the same thread. SQLite's own message is the same for all causes.
    init(_ error: any Error, errno code: Int32 = 0) {
        switch error {
        case let error as OutboxError: self = error
        case let error as DatabaseError: self.init(error, code)
        case is RowDecodingError: self = .damaged
        default: self = .database(code: 0, "\(type(of: error))")
        }
    }

    private init(_ error: DatabaseError, _ code: Int32) {
        let words = error.message ?? "no message"
        switch error.extendedResultCode {
        case .SQLITE_FULL: self = .diskFull
        case .SQLITE_READONLY, .SQLITE_PERM: self = .readOnly(words)
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: self = .damaged
        case .SQLITE_BUSY, .SQLITE_LOCKED: self = .busy
        case .SQLITE_CANTOPEN, .SQLITE_IOERR: self = OutboxError(errno: code) ?? Self.inFile(error, code)
        default: self = .database(code: error.extendedResultCode.rawValue, words)
        }
    }

    /// Returns the error of a system call whose error number doesn't tell more.
    private static func inFile(_ error: DatabaseError, _ code: Int32) -> OutboxError {
        let words = (error.message ?? "no message") + (code == 0 ? "" : ": \(words(code))")
        return switch error.extendedResultCode {
        // The log's index is in shared memory and can grow once the disk has room.
        case .SQLITE_IOERR_SHMSIZE: .diskFull
        case .SQLITE_IOERR_SHMOPEN, .SQLITE_IOERR_LOCK: .readOnly(words)
        case .SQLITE_CANTOPEN: lacksDescriptors ? .tooManyOpenFiles : .cannotOpen(words)
        default: .database(code: error.extendedResultCode.rawValue, words)
        }
    }

    /// Whether this process can't open the files of a connection. SQLite sometimes closes its files before it reports the
    /// failure, which changes the error number.
    private static var lacksDescriptors: Bool {
        let descriptors = (0..<5).map { _ in open("/", O_RDONLY | O_CLOEXEC) }
        defer { for descriptor in descriptors where descriptor >= 0 { close(descriptor) } }
        return descriptors.contains(-1)
    }

    static func words(_ code: Int32) -> String { String(cString: strerror(code)) }
}
