internal import PushCrypto
public import SealedPush

extension Keyring {
    /// One encrypted file with everything that a new machine needs: own keys that are in use or wait to be, enrolment
    /// keys and newest records, the keys of others with what they have proven, counters and the trust list.
    ///
    /// Without retired, revoked and erased keys, so that what was erased here does not live on there, and without the
    /// audit log. Noted in the audit log before. At most 16 MiB; about 0.2 s for a passphrase.
    ///
    /// - Parameter secret: what it is sealed under, with a salt of its own; need not be the keyring's.
    /// - Throws: the error of the first file that is damaged or was edited: a backup that lacks something is no backup.
    public func backup(under secret: KeyringSecret, at now: Timestamp = .now()) throws(KeyringError) -> [UInt8] {
        guard try !files.reading({ () throws(KeyringError) in try isEmpty() }) else {
            throw .file(folder, message: "there is no keyring")
        }
        let seal = KeyringSeal(secret.kind)
        let key = try seal.key(from: secret)
        return try change(at: now) { (change) throws(KeyringError) in
            var files: [BackupContents.File] = []
            defer { for index in files.indices { wipeSecret(&files[index].bytes) } }
            for name in try change.names() {
                guard let file = try change.file(name).forBackup(at: now) else { continue }
                let path = path(name, isOwn: file.isOwn)
                files.append(BackupContents.File(path: path, bytes: file.text(at: path, under: nil)))
            }
            let list = try trustList(under: change.key)
            if !list.entries.isEmpty {
                files.append(BackupContents.File(path: TrustList.path, bytes: list.text(under: nil)))
            }
            let contents = BackupContents.encode(files)
            let backup = contents.withBytes { BackupFile.text(of: $0, seal: seal, under: key) }
            guard backup.count <= BackupFile.maximumByteCount else {
                throw .file(folder, message: "the keyring is too large for a backup, which has 16 MiB at most")
            }
            change.note(.backedUp)
            return backup
        }
    }

    /// What a backup is sealed under, without opening it.
    ///
    /// - Throws: `backup` where this is no backup.
    public static func backupKind(_ bytes: [UInt8]) throws(KeyringError) -> KeyringSecret.Kind {
        guard let file = BackupFile(parsing: bytes) else { throw .backup }
        return file.seal.kind
    }

    /// No backup is larger, in bytes.
    public static var maximumBackupByteCount: Int { BackupFile.maximumByteCount }
}

extension KeyFile {
    /// What a backup holds of a name; nil where that is nothing.
    fileprivate func forBackup(at now: Timestamp) -> KeyFile? {
        var file = self
        // Answers count for ten minutes only.
        file.challenge = nil
        guard isOwn else { return file }
        file.keys.removeAll { $0.life.state != .active }
        if file.keys.isEmpty {
            // A device with an enrolment key can still get a new key; of the old one only the public half goes along.
            guard enrolmentSecret != nil, var last = keys.first else { return nil }
            last.life.erase(at: now)
            last.secret = nil
            file.keys = [last]
        }
        return file
    }
}
