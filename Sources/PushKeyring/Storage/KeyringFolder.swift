import Foundation
internal import PushCrypto
internal import SealedPush
internal import _PushBase

/// A keyring's folder on disk: several processes may read and change it at once, and any may be killed at any moment.
///
/// A change of any number of files is written aside in full, synced, and committed by one rename to `changing/`; then
/// its files are moved into place. Whoever comes next and finds `changing/` finishes that, so there is never a state
/// between old and new: see Docs/Decisions/0013-changes-of-a-keyring.md.
struct KeyringFolder: Sendable {
    let url: URL

    func file(_ path: String) -> URL { url.appending(path: path) }

    /// Runs `body` while nobody changes the keyring.
    func reading<Answer>(_ body: () throws(KeyringError) -> Answer) throws(KeyringError) -> Answer {
        let lock = try FolderLock.shared(url)
        defer { lock?.release() }
        return try body()
    }

    /// Runs `body` while nobody else reads or changes the keyring, and makes what it stages last.
    ///
    /// When this returns, all of it is on disk; when it throws, nothing has changed.
    func changing<Answer>(
        _ body: (inout StagedChange) throws(KeyringError) -> Answer
    ) throws(KeyringError) -> Answer {
        try makeFolders()
        let lock = try FolderLock.exclusive(url)
        defer { lock.release() }
        try finishChange()
        try hideFromRepositories()
        var change = StagedChange()
        defer { change.wipe() }
        let answer = try body(&change)
        guard !change.isEmpty else { return answer }
        try commit(change)
        change.afterCommit?()
        // From here on the change is made; what is left to do, the next process would do too.
        try? finishChange()
        return answer
    }

    /// A file's bytes, as the last change left them; nil where there is no such file.
    func read(_ path: String, limit: Int = TextFile.maximumByteCount) throws(KeyringError) -> [UInt8]? {
        if let staged = try readAsIs(Self.changeName + "/" + path, limit: limit) {
            // An empty file stands for a removal.
            return staged.isEmpty ? nil : staged
        }
        return try readAsIs(path, limit: limit)
    }

    /// The names of a subfolder's files, sorted.
    func names(in subfolder: String) throws(KeyringError) -> [String] {
        var names = Set(try namesAsIs(subfolder))
        for name in try namesAsIs(Self.changeName + "/" + subfolder) {
            let staged = file(Self.changeName + "/" + subfolder + "/" + name)
            // An empty file stands for a removal; whatever else is wrong with one concerns its own name only.
            if (try? DurableFiles.isEmpty(staged)) == true { names.remove(name) } else { names.insert(name) }
        }
        return names.sorted()
    }

    /// Every file that has a MAC in a sealed keyring, but for `keyring.txt`.
    var pathsOfTextFiles: [String] {
        let keys = Self.subfolders.flatMap { subfolder in
            ((try? names(in: subfolder)) ?? []).map { subfolder + "/" + $0 }
        }.filter { Self.key(at: $0) != nil }
        return keys + [TrustList.path, AuditHead.path]
    }

    private func readAsIs(_ path: String, limit: Int) throws(KeyringError) -> [UInt8]? {
        do {
            let bytes = try DurableFiles.read(file(path), limit: limit + 1)
            guard bytes.count <= limit else { throw KeyringError.damaged(file(path)) }
            return bytes
        } catch let error as DurableFiles.Failure {
            if error.code == ENOENT || error.code == ENOTDIR { return nil }
            throw .file(file(path), message: error.code == EINVAL ? "this is no regular file" : error.message)
        } catch let error as KeyringError {
            throw error
        } catch {
            throw .damaged(file(path))
        }
    }

    func namesAsIs(_ path: String) throws(KeyringError) -> [String] {
        do throws(DurableFiles.Failure) {
            return try DurableFiles.names(in: file(path))
        } catch {
            if error.code == ENOENT { return [] }
            throw .file(file(path), message: error.message)
        }
    }

    static let publicName = "public"
    static let privateName = "private"
    static let subfolders = [publicName, privateName]
    /// A committed change that is not finished yet.
    static let changeName = "changing"
    /// What a change that is not committed yet begins with.
    static let unfinishedPrefix = "changing."
}

extension KeyringFolder {
    /// Whether anything has this path, be it a link that leads nowhere.
    func exists(_ path: String) throws(KeyringError) -> Bool {
        let staged = file(Self.changeName + "/" + path)
        if Self.isThere(staged) {
            do { return try !DurableFiles.isEmpty(staged) } catch { throw .file(staged, message: error.message) }
        }
        return Self.isThere(file(path))
    }

    private static func isThere(_ file: URL) -> Bool {
        var status = stat()
        return lstat(file.path(percentEncoded: false), &status) == 0
    }
}

/// Files that are to be written and removed together, with what the audit log says about it.
struct StagedChange {
    struct File {
        let path: String
        fileprivate(set) var bytes: [UInt8]
        let mode: UInt16
    }

    private(set) var files: [File] = []
    /// Runs once the change is made, before anybody else may read the keyring.
    var afterCommit: (() -> Void)?

    var isEmpty: Bool { files.isEmpty }

    /// Takes the bytes over: they are wiped once they are on disk.
    mutating func write(_ path: String, _ bytes: consuming [UInt8], isSecret: Bool) {
        precondition(!bytes.isEmpty, "an empty file stands for a removal")
        set(File(path: path, bytes: bytes, mode: isSecret ? 0o600 : 0o644))
    }

    mutating func remove(_ path: String) { set(File(path: path, bytes: [], mode: 0o600)) }

    /// What is staged for a path: nil where nothing is, empty where it is to be removed.
    func staged(_ path: String) -> [UInt8]? { files.first { $0.path == path }?.bytes }

    private mutating func set(_ file: File) {
        files.removeAll { $0.path == file.path }
        files.append(file)
    }

    mutating func wipe() {
        for index in files.indices { _PushBase.wipe(&files[index].bytes) }
    }
}
