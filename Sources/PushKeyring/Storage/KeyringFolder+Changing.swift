import Foundation
internal import SealedPush
internal import _PushBase

extension KeyringFolder {
    /// Makes what is missing of the folders.
    func makeFolders() throws(KeyringError) {
        try system(url) { () throws(DurableFiles.Failure) in
            try makeFolder(url)
            try DurableFiles.ensureFolder(file(Self.publicName), mode: 0o755)
            try DurableFiles.ensureFolder(file(Self.privateName), mode: 0o700)
        }
        for subfolder in Self.subfolders { try requireRealFolder(subfolder) }
    }

    /// A link in a folder's place would have files written, moved and removed where it leads.
    private func requireRealFolder(_ path: String) throws(KeyringError) {
        guard Self.kind(of: file(path)) != S_IFDIR else { return }
        throw .file(
            file(path), message: "this is a link or a file, where a folder of the keyring belongs: take it away")
    }

    /// As `lstat` says; nil where there is nothing.
    private static func kind(of file: URL) -> mode_t? {
        var status = stat()
        return lstat(file.path(percentEncoded: false), &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// Makes a folder with those that it lies in, each of them to last.
    private func makeFolder(_ folder: URL) throws(DurableFiles.Failure) {
        do throws(DurableFiles.Failure) { try DurableFiles.ensureFolder(folder, mode: 0o755) } catch {
            let parent = folder.deletingLastPathComponent()
            guard error.code == ENOENT, parent.path.count < folder.path.count else { throw error }
            try makeFolder(parent)
            try DurableFiles.ensureFolder(folder, mode: 0o755)
        }
    }

    /// Keeps git from taking secrets, wherever the keyring lies. Only while the keyring is locked.
    func hideFromRepositories() throws(KeyringError) {
        DurableFiles.removeUnfinished(in: file(Self.privateName), untouchedFor: -1)
        let ignored = [(Self.privateName + "/.gitignore", "*\n"), (".gitignore", Self.ignoredNames)]
        for (path, text) in ignored where access(file(path).path(percentEncoded: false), F_OK) != 0 {
            try system(file(path)) { () throws(DurableFiles.Failure) in
                _ = try DurableFiles.create(file(path), holding: Array(text.utf8), staging: file(Self.privateName))
            }
        }
    }

    /// Writes the change aside, and makes it the keyring's with one rename.
    ///
    /// Refuses what could be committed and never finished, or never be read again.
    func commit(_ change: StagedChange) throws(KeyringError) {
        for staged in change.files {
            if staged.path == AuditLog.name {
                try system(file(staged.path)) { () throws(DurableFiles.Failure) in
                    try AuditLog.requireAppendable(file(staged.path))
                }
            } else if staged.bytes.count > TextFile.maximumByteCount {
                throw .file(file(staged.path), message: "it would have more than \(TextFile.maximumByteCount) bytes")
            }
        }
        let staging = file(Self.unfinishedPrefix + UUID().uuidString.lowercased())
        do throws(DurableFiles.Failure) {
            try DurableFiles.ensureFolder(staging)
            for subfolder in Self.subfolders { try DurableFiles.ensureFolder(staging.appending(path: subfolder)) }
            for file in change.files {
                try DurableFiles.write(file.bytes, to: staging.appending(path: file.path), mode: file.mode)
            }
            for subfolder in Self.subfolders { try DurableFiles.sync(folder: staging.appending(path: subfolder)) }
            try DurableFiles.sync(folder: staging)
            try DurableFiles.rename(staging, to: file(Self.changeName))
        } catch {
            try? FileManager.default.removeItem(at: staging)
            throw .file(url, message: error.message)
        }
    }

    /// Moves the files of a committed change into place, and clears away what was never committed.
    ///
    /// Each step may be done twice, so this may be cut off anywhere and begun again.
    ///
    /// Takes nothing but what a change of ours can hold: somebody else may have put it there.
    func finishChange() throws(KeyringError) {
        let isThere = Self.kind(of: file(Self.changeName)) != nil
        if isThere { try requireOurs() }
        try system(url) { () throws(DurableFiles.Failure) in
            let change = file(Self.changeName)
            if isThere {
                // The commit has to last before anything is moved out of it.
                try DurableFiles.sync(folder: url)
                for subfolder in Self.subfolders {
                    try moveFiles(of: change.appending(path: subfolder), to: file(subfolder))
                }
                try AuditLog.append(change.appending(path: AuditLog.name), to: file(AuditLog.name))
                try moveFiles(of: change, to: url)
                for subfolder in Self.subfolders {
                    rmdir(change.appending(path: subfolder).path(percentEncoded: false))
                }
                rmdir(change.path(percentEncoded: false))
                try DurableFiles.sync(folder: url)
            }
            for name in try DurableFiles.names(in: url) where name.hasPrefix(Self.unfinishedPrefix) {
                try? FileManager.default.removeItem(at: file(name))
            }
        }
    }

    private func requireOurs() throws(KeyringError) {
        try requireRealFolder(Self.changeName)
        let ours = [KeyringSeal.path, TrustList.path, AuditHead.path, AuditLog.name]
        for name in try namesAsIs(Self.changeName) {
            let path = Self.changeName + "/" + name
            if Self.subfolders.contains(name) {
                try requireRealFolder(path)
                for inner in try namesAsIs(path) where Self.key(at: name + "/" + inner) == nil {
                    throw foreign(path + "/" + inner)
                }
                for inner in try namesAsIs(path) where Self.kind(of: file(path + "/" + inner)) != S_IFREG {
                    throw foreign(path + "/" + inner)
                }
            } else if !ours.contains(name) || Self.kind(of: file(path)) != S_IFREG {
                throw foreign(path)
            }
        }
    }

    private func foreign(_ path: String) -> KeyringError {
        .file(file(path), message: "this is not the keyring's, and is in the way of every change: take it away")
    }

    /// An empty file removes the one in place.
    private func moveFiles(of source: URL, to target: URL) throws(DurableFiles.Failure) {
        var names: [String]
        do throws(DurableFiles.Failure) { names = try DurableFiles.names(in: source) } catch {
            if error.code == ENOENT { return }
            throw error
        }
        names.removeAll(where: Self.subfolders.contains)
        for name in names {
            let staged = source.appending(path: name)
            let place = target.appending(path: name)
            if try DurableFiles.isEmpty(staged) {
                unlink(place.path(percentEncoded: false))
                try DurableFiles.sync(folder: target)
                unlink(staged.path(percentEncoded: false))
            } else {
                try DurableFiles.rename(staged, to: place)
            }
        }
        if !names.isEmpty { try DurableFiles.sync(folder: target) }
    }

    private func system(
        _ place: URL, _ body: () throws(DurableFiles.Failure) -> Void
    ) throws(KeyringError) {
        do { try body() } catch {
            throw .file(place, message: error.code == EINVAL ? "this is no regular file" : error.message)
        }
    }

    /// What a repository should not hold of a keyring, wherever it lies.
    private static let ignoredNames = "private/\nchanging*\nlock\n"
}
