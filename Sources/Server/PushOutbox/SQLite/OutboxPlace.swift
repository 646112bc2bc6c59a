internal import PushCore

/// The outbox's file, what SQLite opens beside it, and the folder of both: nobody else may have a hand in them.
///
/// SQLite replays `-wal` and `-journal` into the file, and believes `-shm`, whoever has made them: who may make files in the
/// folder may thereby write the outbox. All is looked at without being opened: to close a file ends this process's locks on
/// it, also those of another connection (SQLite, "How To Corrupt An SQLite Database File", 2.2).
///
/// Not asked of SQLite is SQLITE_OPEN_NOFOLLOW: it refuses a link anywhere in the path, so /var on a Mac.
package enum OutboxPlace {
    /// Makes the file for its owner alone, before SQLite can, or checks the one that is there.
    ///
    /// - Parameter isReadOnly: makes nothing, and does not ask whether the file can be written.
    /// - Throws: `exposed` where others have, or could have, a hand in it; `cannotOpen`, `readOnly`, `diskFull`.
    static func prepare(_ path: String, isReadOnly: Bool = false) throws(OutboxError) {
        guard isPath(path) else { throw .cannotOpen("its place is \(rule)") }
        try checkKind(path)
        try checkFolders(of: path)
        let isThere = try checkFile(path, isReadOnly: isReadOnly)
        for suffix in ["-wal", "-shm", "-journal"] { try checkCompanion(path + suffix) }
        if !isThere && !isReadOnly { try make(path) }
    }

    /// False for text that another tool would take for a database: an address in any spelling, libpq's keywords, `:memory:`,
    /// `file:…?…`. It may hold a password, and SQLite would keep some of them in memory only.
    package static func isPath(_ text: String) -> Bool {
        guard let first = text.first, let last = text.last, !first.isWhitespace, !last.isWhitespace,
            !text.contains("://"), !text.hasPrefix("//")
        else { return false }
        return first == "/" || first == "." || !text.utf8.contains { ":=?@\"'".utf8.contains($0) }
    }

    package static let rule =
        "a file's path, which begins with / or ./ if it has one of :=?@ or quotes, or postgres://USER@HOST/DATABASE"

    // MARK: The file and its companions

    /// Most often somebody has mistyped the path: then that is what to say.
    private static func checkKind(_ path: String) throws(OutboxError) {
        guard let facts = try look(at: path) else { return }
        switch facts.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFLNK: throw .cannotOpen("it is a symbolic link")
        case S_IFDIR: throw .cannotOpen(words(EISDIR))
        default: throw .cannotOpen("it is no file")
        }
    }

    /// False where there is none.
    private static func checkFile(_ path: String, isReadOnly: Bool = false) throws(OutboxError) -> Bool {
        try checkKind(path)
        guard let facts = try look(at: path) else { return false }
        try requireOwn(facts, path)
        guard access(path, isReadOnly ? R_OK : R_OK | W_OK) == 0 else { throw OutboxError(system: errno) }
        if facts.st_mode & 0o077 != 0 { chmod(path, 0o600) }
        return true
    }

    /// What SQLite reads beside the file: nothing, or what we have made.
    private static func checkCompanion(_ path: String) throws(OutboxError) {
        guard let facts = try look(at: path) else { return }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw .exposed("\(path) is no file, and was not made by SQLite: look at who has made it, and remove it")
        }
        try requireOwn(facts, path)
        if facts.st_mode & 0o077 != 0 { chmod(path, 0o600) }
    }

    private static func requireOwn(_ facts: stat, _ path: String) throws(OutboxError) {
        guard facts.st_uid == geteuid() else {
            throw .exposed("\(path) belongs to another user: look at who has made it")
        }
        guard facts.st_mode & 0o022 == 0 else { throw .exposed("others may write \(path): `chmod 600` it") }
    }

    /// One that another process makes at the same time is as good.
    private static func make(_ path: String) throws(OutboxError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor >= 0 { close(descriptor) } else if errno != EEXIST { throw OutboxError(system: errno) }
        guard try checkFile(path) else { throw .cannotOpen(words(ENOENT)) }
    }

    // MARK: Folders

    /// Its own folder: as OpenSSH asks for ~/.ssh, with the sticky bit or without it. Those above: that nobody else can put
    /// another folder in its place.
    private static func checkFolders(of path: String) throws(OutboxError) {
        let named = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard let real = realpath(named, nil) else { throw OutboxError(system: errno) }
        defer { free(real) }
        var folder = String(cString: real)
        try checkFolder(folder, refusing: 0o022, unlessSticky: false)
        while folder != "/" {
            folder = folder.lastIndex(of: "/").map { String(folder[..<$0]) } ?? ""
            if folder.isEmpty { folder = "/" }
            try checkFolder(folder, refusing: 0o002, unlessSticky: true)
        }
    }

    private static func checkFolder(
        _ folder: String, refusing writers: mode_t, unlessSticky: Bool
    ) throws(OutboxError) {
        guard let facts = try look(at: folder) else { throw .cannotOpen(words(ENOENT)) }
        // The administrator's folders are as safe as one's own.
        guard facts.st_uid == geteuid() || facts.st_uid == 0 else {
            throw .exposed(
                "the folder \(folder) belongs to another user, who could put files of theirs in the outbox's place: use a folder of your own"
            )
        }
        guard facts.st_mode & writers == 0 || unlessSticky && facts.st_mode & sticky != 0 else {
            throw .exposed(
                "others may make files in \(folder), which SQLite would take for the outbox's own: use a folder that only you can write (`chmod go-w`, if this one is yours alone)"
            )
        }
    }

    /// Of the path itself, not of what a link leads to; nil where nothing is there.
    private static func look(at path: String) throws(OutboxError) -> stat? {
        var facts = stat()
        if lstat(path, &facts) == 0 { return facts }
        guard errno == ENOENT else { throw OutboxError(system: errno) }
        return nil
    }

    /// S_ISVTX: in such a folder, nobody removes or renames what is another's.
    private static let sticky: mode_t = 0o1000

    private static func words(_ code: Int32) -> String { String(cString: strerror(code)) }
}

extension OutboxError {
    fileprivate init(system code: Int32) {
        self =
            switch code {
            case EROFS, EACCES: .readOnly
            case ENOSPC, EDQUOT: .diskFull
            default: .cannotOpen(String(cString: strerror(code)))
            }
    }
}
