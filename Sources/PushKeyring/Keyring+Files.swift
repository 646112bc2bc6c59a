import Foundation
internal import PushCrypto
import SealedPush

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension Keyring {
    /// Writes the private file, then the public one; `secret` lends the text to what it is given.
    func add(
        _ name: KeyName, _ key: PublicKey, created: Timestamp,
        secret: ((UnsafeRawBufferPointer) throws(KeyringError) -> Void) throws(KeyringError) -> Void
    ) throws(KeyringError) {
        try prepare()
        guard !contains(name) else { throw .exists(name) }
        try secret { (text) throws(KeyringError) in
            var bytes = KeyFile.text(kind: key.kind, created: created, secret: text)
            defer { wipe(&bytes) }
            try write(bytes, to: privateFile(name), name, mode: 0o600)
        }
        do {
            try write(KeyFile.text(key, created: created), to: publicFile(name), name)
        } catch {
            // Another process may have added a public key of this name in between: the two halves must not meet.
            unlink(privateFile(name).path(percentEncoded: false))
            throw error
        }
    }

    /// Makes the folders.
    func prepare() throws(KeyringError) {
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        } catch {
            throw .file(folder, message: "the folder can't be made")
        }
        for (folder, mode) in [(publicFolder, mode_t(0o755)), (privateFolder, 0o700)] {
            do { try DurableFiles.ensureFolder(folder, mode: mode) } catch {
                throw .file(folder, message: error.message)
            }
        }
        for folder in [publicFolder, privateFolder] {
            // What killed processes have left, which may be a whole secret.
            DurableFiles.removeUnfinished(in: folder, untouchedFor: Self.unfinishedLifetime)
        }
        // Wherever the keyring lies, no secret gets into a repository by accident.
        let ignore = privateFolder.appending(path: ".gitignore")
        do { _ = try DurableFiles.create(ignore, holding: Array("*\n".utf8), staging: privateFolder) } catch {
            throw .file(ignore, message: error.message)
        }
    }

    /// Whether anything has the name, be it a link that leads nowhere.
    func contains(_ name: KeyName) -> Bool {
        [publicFile(name), privateFile(name)].contains { file in
            var status = stat()
            return lstat(file.path(percentEncoded: false), &status) == 0
        }
    }

    func write(_ bytes: [UInt8], to file: URL, _ name: KeyName, mode: mode_t = 0o644) throws(KeyringError) {
        let isNew: Bool
        do {
            isNew = try DurableFiles.create(
                file, holding: bytes, staging: file.deletingLastPathComponent(), mode: mode)
        } catch {
            throw .file(file, message: error.message)
        }
        guard isNew else { throw .exists(name) }
    }

    /// Nil where there is no such file.
    func readIfThere(_ file: URL) throws(KeyringError) -> KeyFile? {
        var bytes: [UInt8]
        do {
            bytes = try DurableFiles.read(file, limit: KeyFile.maximumByteCount)
        } catch {
            if error.code == ENOENT { return nil }
            throw .file(file, message: error.message)
        }
        defer { wipe(&bytes) }
        guard let parsed = KeyFile(parsing: bytes) else { throw .damaged(file) }
        return parsed
    }

    func secretFile(_ name: KeyName) throws(KeyringError) -> KeyFile {
        if let file = try readIfThere(privateFile(name)) { return file }
        _ = try entry(named: name)
        throw .noSecret(name)
    }

    func fileNames(in folder: URL) throws(KeyringError) -> [String] {
        do {
            return try DurableFiles.names(in: folder)
        } catch {
            if error.code == ENOENT { return [] }
            throw .file(folder, message: error.message)
        }
    }

    /// Seconds; no process takes as long from making a file to linking it.
    private static let unfinishedLifetime: Int64 = 60
}
