internal import PushCore

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Checks that no other user can change the outbox's file, SQLite's companion files, or their folder. Several users can share
/// an outbox through a folder that root shares with their group: all of them may then write the files, and nobody else.
///
/// SQLite replays `-wal` and `-journal` into the file and trusts `-shm`, no matter who created them. So a user who can
/// create files in the folder can write the outbox. All checks work without opening the files: closing a file releases this
/// process's locks on it, even those of another connection (SQLite, "How To Corrupt An SQLite Database File", 2.2).
///
/// SQLITE_OPEN_NOFOLLOW isn't used, because it refuses a link anywhere in the path, such as /var on a Mac.
package enum OutboxPlace {
    /// Creates the file for its owner alone, before SQLite can, or checks an existing one. With `isReadOnly`, creates
    /// nothing and skips the check that the file can be written. Throws `exposed` if other users can, or could, change the
    /// file; `cannotOpen`, `readOnly`, `diskFull`.
    static func prepare(_ path: String, isReadOnly: Bool = false) throws(OutboxError) {
        guard isPath(path) else { throw .cannotOpen("the path must be \(rule)") }
        try checkKind(path)
        let isShared = try checkFolders(of: path)
        let isThere = try checkFile(path, isShared: isShared, isReadOnly: isReadOnly)
        for suffix in ["-wal", "-shm", "-journal"] { try checkCompanion(path + suffix, isShared: isShared) }
        if !isThere && !isReadOnly { try make(path, isShared: isShared) }
    }

    /// Returns false for text that another tool would interpret as a database: a URL in any spelling, libpq's keywords,
    /// `:memory:`, `file:…?…`. It may contain a password, and SQLite would keep some of these databases in memory only.
    package static func isPath(_ text: String) -> Bool { TypedPath.isPath(text) }

    package static let rule =
        "a file's path (starting with / or ./ if it contains quotes or any of :=?@), or postgres://USER@HOST/DATABASE"

    // MARK: The file and its companions

    /// A mistyped path is the likeliest cause; report that first.
    private static func checkKind(_ path: String) throws(OutboxError) {
        guard let facts = try look(at: path) else { return }
        switch facts.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFLNK: throw .cannotOpen("it is a symbolic link")
        case S_IFDIR: throw OutboxError(opening: EISDIR)
        default: throw .cannotOpen("it is not a regular file")
        }
    }

    /// Returns false if there is no file.
    private static func checkFile(
        _ path: String, isShared: Bool, isReadOnly: Bool = false
    ) throws(OutboxError) -> Bool {
        try checkKind(path)
        guard let facts = try look(at: path) else { return false }
        try requireOwn(facts, path, isShared: isShared)
        // SQLite gives its companions the same mode, so one user would shut the others out.
        guard !isShared || facts.st_mode & 0o660 == 0o660 else {
            throw .cannotOpen("its folder is shared with a group, so the group must be able to use it; run `chmod 660`")
        }
        guard access(path, isReadOnly ? R_OK : R_OK | W_OK) == 0 else { throw OutboxError(opening: errno) }
        if !isShared, facts.st_mode & 0o077 != 0 { chmod(path, 0o600) }
        return true
    }

    /// A file that SQLite reads along with the outbox's must not exist, or must be ours.
    private static func checkCompanion(_ path: String, isShared: Bool) throws(OutboxError) {
        guard let facts = try look(at: path) else { return }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw .exposed("\(path) is not a file that SQLite created; find out who created it, then remove it")
        }
        try requireOwn(facts, path, isShared: isShared)
        if !isShared, facts.st_mode & 0o077 != 0 { chmod(path, 0o600) }
    }

    /// In a shared folder, only root and the group can have created the file, and any of them may own it. Modes aren't
    /// corrected there: another member could put a link in the file's place.
    private static func requireOwn(_ facts: stat, _ path: String, isShared: Bool) throws(OutboxError) {
        guard !isShared else {
            guard facts.st_mode & 0o007 == 0 else {
                throw .exposed("users outside its group can use \(path); run `chmod 660`")
            }
            return
        }
        guard facts.st_uid == geteuid() else {
            throw .exposed("\(path) belongs to another user; find out who created it")
        }
        guard facts.st_mode & 0o022 == 0 else { throw .exposed("other users can write to \(path); run `chmod 600`") }
    }

    /// If another process creates the file at the same time, that file is used.
    private static func make(_ path: String, isShared: Bool) throws(OutboxError) {
        // A shared file gets its name once it has its mode, so that no member finds it with another one.
        let name = isShared ? "\(path).new.\(UInt64.random(in: 0...UInt64.max))" : path
        let descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor >= 0 {
            let hasMode = !isShared || fchmod(descriptor, 0o660) == 0
            let code = errno
            close(descriptor)
            defer { if isShared { unlink(name) } }
            guard hasMode else { throw OutboxError(opening: code) }
            if isShared, link(name, path) != 0, errno != EEXIST { throw OutboxError(opening: errno) }
        } else if errno != EEXIST {
            throw OutboxError(opening: errno)
        }
        guard try checkFile(path, isShared: isShared) else { throw OutboxError(opening: ENOENT) }
    }

    // MARK: Folders

    /// Checks the file's own folder and those above it. Returns whether root shares the file's own folder with its group. Only
    /// root's: any other member could let in more.
    private static func checkFolders(of path: String) throws(OutboxError) -> Bool {
        let folder = DurableFiles.folder(of: path)
        let exposure: Exposure?
        do throws(DurableFiles.Failure) {
            exposure = try Exposure.ofFolder(folder, isSharing: true)
        } catch { throw OutboxError(opening: error.code) }
        switch exposure?.kind {
        case nil: break
        case .owner?:
            throw .exposed(
                "the folder \(exposure!.path) belongs to another user, who could replace the outbox's files; use a folder of your own"
            )
        case .readers?, .writers?:
            throw .exposed(
                "other users can create files in \(exposure!.path), which SQLite would take for the outbox's own; use a folder that only you can write to (`chmod go-w` if this one is yours alone), or one that root shares with a group (`chown root`, `chmod 2770`)"
            )
        }
        var facts = stat()
        guard stat(folder, &facts) == 0 else { throw OutboxError(opening: errno) }
        return facts.st_uid == 0 && DurableFiles.isSharedWithGroup(facts)
    }

    /// Returns the facts about the path itself, not the target of a link, or `nil` if nothing exists there.
    private static func look(at path: String) throws(OutboxError) -> stat? {
        var facts = stat()
        if lstat(path, &facts) == 0 { return facts }
        guard errno == ENOENT else { throw OutboxError(opening: errno) }
        return nil
    }
}

/// The files of an open outbox: its own, its log, and the log's index.
///
/// SQLite goes on using files that were replaced or deleted: what it stores there is gone when the last process closes them.
/// These paths are compared with the files that were opened. Costs a system call for each, a microsecond.
struct OpenFiles: Sendable {
    private let files: [File]

    private struct File: Sendable {
        let path: String
        let identity: FileIdentity

        /// Throws `replaced` if another file, or none, is at the path.
        func check() throws(OutboxError) {
            guard FileIdentity(path) == identity else { throw .replaced(path) }
        }
    }

    /// Remembers the files at a path and the path with each suffix. Throws `replaced` if one is missing.
    init(_ path: String, beside suffixes: [String] = []) throws(OutboxError) {
        var files: [File] = []
        for path in [path] + suffixes.map({ path + $0 }) {
            guard let identity = FileIdentity(path) else { throw .replaced(path) }
            files.append(File(path: path, identity: identity))
        }
        self.files = files
    }

    func check() throws(OutboxError) { for file in files { try file.check() } }
}
