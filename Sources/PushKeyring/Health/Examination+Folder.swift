internal import Foundation
internal import SealedPush
internal import _PushBase

extension Examination {
    /// The keyring's own folder: what lies there, and who may change it.
    mutating func examineFolder() {
        examineMode(".", FileFacts(of: keyring.folder, following: true), isPrivate: false)
        guard let names = listFolder() else { return }
        if !names.contains(".gitignore"), names.contains(KeyringFolder.privateName) {
            noteNotIgnored(".gitignore")
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
                add(
                    .unfinishedChange, .file(name), "a change is made, and its files are not all in place yet",
                    "the next command that changes the keyring finishes it; then run this again, for the audit log")
            case _ where name.hasPrefix(KeyringFolder.unfinishedPrefix): noteLeftover(name)
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
            noteNotIgnored(subfolder + "/.gitignore")
        }
        var unknown: [String] = []
        for file in merged {
            let path = subfolder + "/" + file
            if let (name, isOwn) = KeyringFolder.key(at: path) {
                folders[name, default: []].insert(subfolder)
                examine(name, at: path, isOwn: isOwn)
            } else if file.hasPrefix("tmp.") {
                noteLeftover(path)
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
            add(.unreadable, .keyring, "the folder can't be read: \(error.message)", Self.ownerAdvice)
            return nil
        }
    }

    private mutating func noteNotIgnored(_ path: String) {
        add(
            .notIgnored, .file(path), "\(path) is missing, which keeps secrets out of a repository",
            "the next command that changes the keyring makes it anew")
    }

    private mutating func noteLeftover(_ path: String) {
        let path = Self.printable(path)
        add(
            .leftover, .file(path), "\(path) is left from a change that was never made, and may hold secrets",
            "the next command that changes the keyring clears it away; else delete it")
    }

    private mutating func noteUnknown(_ paths: [String]) {
        for path in paths.prefix(Self.maximumUnknownCount) {
            let shown = Self.printable(path)
            if holdsSecret(path) {
                add(
                    .straySecret, .file(shown), "\(shown) is no part of a keyring, and holds a secret key in the clear",
                    "keep it elsewhere, or delete it; who may have read it decides whether the key is to be revoked")
            } else {
                add(
                    .unknownFile, .file(shown), "\(shown) is no part of a keyring", "keep it elsewhere, or delete it")
            }
        }
        guard paths.count > Self.maximumUnknownCount else { return }
        add(
            .unknownFile, .keyring, "\(paths.count - Self.maximumUnknownCount) more files are no part of a keyring",
            "keep them elsewhere, or delete them")
    }

    private func holdsSecret(_ path: String) -> Bool {
        guard FileFacts(of: files.file(path))?.kind == .file,
            var bytes = try? DurableFiles.read(files.file(path), limit: TextFile.maximumByteCount)
        else { return false }
        defer { wipeSecret(&bytes) }
        return SecretText.isIn(bytes)
    }

    /// A name that someone else may have chosen, as one short line.
    static func printable(_ path: String) -> String {
        let text = TerminalText.printable(path)
        return text.count <= 120 ? text : text.prefix(117) + "..."
    }

    private static let maximumUnknownCount = 50
    static let ownerAdvice = "look at its owner and its permissions"
}

extension Examination {
    /// Whether a file is a file, and a folder a folder.
    mutating func examineKind(_ path: String, _ facts: FileFacts?, is kind: FileFacts.Kind) {
        guard let facts, facts.kind != kind else { return }
        if facts.kind == .link {
            add(
                .link, .file(path), "\(path) is a link: what it leads to is not protected by this folder",
                "put the file itself there")
        } else {
            add(
                .unreadable, .file(path), "\(path) is no \(kind == .file ? "file" : "folder")",
                "move it away, and restore what should be there from a backup")
        }
    }

    /// Whether others may do what they should not.
    mutating func examineMode(_ path: String, _ facts: FileFacts?, isPrivate: Bool) {
        guard let facts, facts.kind == .file || facts.kind == .folder else { return }
        let mode = String(facts.mode & 0o777, radix: 8)
        let isFolder = facts.kind == .folder
        if facts.mode & 0o022 != 0 {
            let right = isFolder ? (isPrivate ? "700" : "755") : (isPrivate ? "600" : "644")
            add(
                .writableByOthers, .file(path), "other users may change \(path): its mode is \(mode)",
                "`chmod \(right)` it, and look whether its contents are still the right ones")
        }
        if isPrivate, facts.mode & 0o055 != 0 {
            add(
                .readableByOthers, .file(path), "other users may read \(path): its mode is \(mode)",
                "`chmod \(isFolder ? "700" : "600")` it; if somebody may have, revoke its keys where it is not sealed")
        }
    }

    /// An error of the keyring's own about a file.
    mutating func note(_ error: KeyringError, _ path: String) {
        switch error {
        case .altered:
            add(
                .altered, .file(path), "\(path) was changed by something else than the keyring, or belongs elsewhere",
                "restore it from a backup; find out who changed it")
        case .file(_, let message):
            add(.unreadable, .file(path), "\(path) can't be read: \(message)", Self.ownerAdvice)
        default:
            add(
                .damaged, .file(path), "\(path) is damaged; the other keys are not affected",
                "restore it from a backup, or delete it")
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
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// 32 bytes and the checksum.
    private static let characterCount = 58
}
