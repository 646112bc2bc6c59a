internal import Foundation
internal import SealedPush
internal import _PushBase

extension Examination {
    /// The keyring's own folder: what lies there, and who may change it.
    mutating func examineFolder() {
        examineMode(".", FileFacts(of: keyring.folder, following: true), isPrivate: false)
        guard let names = listFolder() else { return }
        if !names.contains(".gitignore"), names.contains(KeyringFolder.privateName) {
            add(.notIgnored(path: ".gitignore"))
        }
        var unknown: [String] = []
        for name in names.sorted() {
            let facts = FileFacts(of: files.file(name))
            switch name {
            case KeyringSeal.path, TrustList.path, AuditLog.name, AuditHead.path:
                examineKind(name, facts, is: .file)
                examineMode(name, facts, isPrivate: false)
            case KeyringFolder.publicName, KeyringFolder.privateName:
                examineKind(name, facts, is: .folder)
                examineMode(name, facts, isPrivate: name == KeyringFolder.privateName)
            case KeyringFolder.changeName:
                isUnfinished = true
                add(.unfinishedChange)
            case _ where name.hasPrefix(KeyringFolder.unfinishedPrefix): add(.leftover(path: Finding.printable(name)))
            case "lock", ".gitignore", "README.md": break
            default: unknown.append(name)
            }
        }
        noteUnknown(unknown)
    }

    /// One of the two folders of keys.
    mutating func examine(subfolder: String) {
        let isPrivate = subfolder == KeyringFolder.privateName
        let merged: [String]
        do throws(KeyringError) { merged = try files.names(in: subfolder) } catch {
            // The folder itself was named above if it can't be read; else a staged file of it is at fault.
            if let facts = FileFacts(of: files.file(subfolder)), facts.kind != .file { note(error, subfolder) }
            return
        }
        if isPrivate, FileFacts(of: files.file(subfolder))?.kind == .folder, !merged.contains(".gitignore") {
            add(.notIgnored(path: subfolder + "/.gitignore"))
        }
        var unknown: [String] = []
        for file in merged {
            let path = subfolder + "/" + file
            if let (name, isOwn) = KeyringFolder.key(at: path) {
                folders[name, default: []].insert(subfolder)
                examine(name, at: path, isOwn: isOwn)
            } else if file.hasPrefix("tmp.") {
                add(.leftover(path: Finding.printable(path)))
            } else if file != ".gitignore", file != "README.md" {
                unknown.append(path)
            }
        }
        noteUnknown(unknown)
    }

    /// What lies in the keyring's folder; nil where that can't be read.
    private mutating func listFolder() -> [String]? {
        do throws(DurableFiles.Failure) {
            return try DurableFiles.names(in: keyring.folder)
        } catch {
            add(.unreadableFolder(message: error.message))
            return nil
        }
    }

    private mutating func noteUnknown(_ paths: [String]) {
        for path in paths.prefix(Self.maximumUnknownCount) {
            let shown = Finding.printable(path)
            add(holdsSecret(path) ? .straySecret(path: shown, isUnknown: true) : .unknownFile(path: shown))
        }
        let more = paths.count - Self.maximumUnknownCount
        if more > 0 { add(.moreUnknownFiles(count: more)) }
    }

    private func holdsSecret(_ path: String) -> Bool {
        guard FileFacts(of: files.file(path))?.kind == .file,
            var bytes = try? DurableFiles.read(files.file(path), limit: TextFile.maximumByteCount)
        else { return false }
        defer { wipeSecret(&bytes) }
        return SecretText.isIn(bytes)
    }

    private static let maximumUnknownCount = 50
}

extension Examination {
    /// Whether a file is a file, and a folder a folder.
    mutating func examineKind(_ path: String, _ facts: FileFacts?, is kind: FileFacts.Kind) {
        guard let facts, facts.kind != kind else { return }
        add(facts.kind == .link ? .link(path: path) : .otherKind(path: path, isFolderExpected: kind == .folder))
    }

    /// Whether others may do what they should not.
    mutating func examineMode(_ path: String, _ facts: FileFacts?, isPrivate: Bool) {
        guard let facts, facts.kind == .file || facts.kind == .folder else { return }
        let mode = facts.mode & 0o777
        let isFolder = facts.kind == .folder
        if facts.mode & 0o022 != 0 {
            let right = isFolder ? (isPrivate ? 0o700 : 0o755) : (isPrivate ? 0o600 : 0o644)
            add(.writableByOthers(path: path, mode: mode, right: right))
        }
        if isPrivate, facts.mode & 0o055 != 0 { add(.readableByOthers(path: path, mode: mode, isFolder: isFolder)) }
    }

    /// An error of the keyring's own about a file.
    mutating func note(_ error: KeyringError, _ path: String) {
        switch error {
        case .altered: add(.altered(path: path))
        case .file(_, let message): add(.unreadable(path: path, message: message))
        default: add(.damaged(path: path))
        }
    }
}

extension SecretText {
    /// Whether bytes hold a secret key's text, as far as that can be told at a glance.
    static func isIn(_ bytes: [UInt8]) -> Bool {
        let mark = Array("-KEY-1".utf8)
        return bytes.withUnsafeBytes { bytes in
            var index = 0
            while index + mark.count + characterCount <= bytes.count {
                if bytes[index] == mark[0], bytes[index..<index + mark.count].elementsEqual(mark),
                    bytes[(index + mark.count)...].prefix(characterCount).allSatisfy(isCapitalOrDigit)
                {
                    return true
                }
                index += 1
            }
            return false
        }
    }

    private static func isCapitalOrDigit(_ byte: UInt8) -> Bool {
        byte.isCapital || byte.isDigit
    }

    /// 32 bytes and the checksum.
    private static let characterCount = 58
}

/// What the system knows of a file without opening it.
struct FileFacts {
    let kind: Kind
    /// The permission bits.
    let mode: Int
    let byteCount: Int
    /// The system's own note of the last change, of the contents or of anything else.
    let changed: ChangeTime

    struct ChangeTime: Equatable {
        fileprivate let device: UInt64
        fileprivate let number: UInt64
        fileprivate let seconds: Int
        fileprivate let nanoseconds: Int
    }

    enum Kind { case file, folder, link, other }

    /// Nil where there is nothing.
    init?(of file: URL, following: Bool = false) {
        var status = stat()
        let path = file.path(percentEncoded: false)
        guard (following ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        mode = Int(status.st_mode & 0o7777)
        byteCount = Int(status.st_size)
        #if canImport(Darwin)
            let time = status.st_ctimespec
        #else
            let time = status.st_ctim
        #endif
        changed = ChangeTime(
            device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino),
            seconds: time.tv_sec, nanoseconds: time.tv_nsec)
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .file
        case S_IFDIR: kind = .folder
        case S_IFLNK: kind = .link
        default: kind = .other
        }
    }
}
