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

extension Keyring {
    /// Takes everything from a backup into this keyring, in one change: all of it or nothing.
    ///
    /// A keyring that does not exist yet is sealed under the same passphrase or key, with a fresh salt, unless it was given
    /// another one. One that exists keeps its own seal, and needs its own secret. Of the trust list, those apps are taken that nobody is trusted for
    /// here. Each enrolled device of one's own signs a new record, whose counter is higher than any that was signed
    /// after the backup was made; send it to the server.
    ///
    /// Not known afterwards is what changed since the backup: keys that were made, revoked or distrusted later, and
    /// newer records of others.
    ///
    /// - Parameters:
    ///   - secret: what the backup was made with.
    ///   - only: the one name that is to come, for a file that was damaged and taken away; nil for all, and the trust list.
    /// - Returns: the names that came, sorted.
    /// - Throws: `backup` for another secret and for every damage; `exists` where a name is taken. Nothing has changed then.
    @discardableResult
    public func restore(
        _ bytes: [UInt8], with secret: KeyringSecret, only: KeyName? = nil, at now: Timestamp = .now()
    ) throws(KeyringError) -> [KeyName] {
        guard let file = BackupFile(parsing: bytes), file.seal.kind == secret.kind,
            let contents = file.open(under: try file.seal.key(from: secret))
        else { throw .backup }
        return try contents.withBytes { (contents) throws(KeyringError) in
            while true {
                // A secret that was given for this keyring seals it, as ever.
                guard vault.givenSecret == nil, try files.reading({ () throws(KeyringError) in try isEmpty() }) else {
                    return try change(at: now) { (change) throws(KeyringError) in
                        try change.restore(contents, only: only)
                    }
                }
                if let names = try makeKeyring(from: contents, only: only, sealedWith: secret, at: now) {
                    return names
                }
            }
        }
    }

    /// Nil where another process was faster and there is a keyring now.
    private func makeKeyring(
        from contents: UnsafeRawBufferPointer, only: KeyName?, sealedWith secret: KeyringSecret, at now: Timestamp
    ) throws(KeyringError) -> [KeyName]? {
        let seal = KeyringSeal(secret.kind)
        let key = try seal.key(from: secret)
        let text = seal.text(under: key)
        vault.remember(key, sealedBy: text)
        return try files.changing { (staged) throws(KeyringError) in
            guard try isEmpty() else { return nil }
            var change = KeyringChange(self, under: key, at: now, staged)
            let names = try change.restore(contents, only: only)
            writeLog(&change, readUnder: key, writtenUnder: key)
            try vault.stage((seal, text), in: &change.staged)
            staged = change.staged
            return names
        }
    }
}

extension KeyringChange {
    fileprivate mutating func restore(
        _ contents: UnsafeRawBufferPointer, only: KeyName?
    ) throws(KeyringError) -> [KeyName] {
        var names: [KeyName] = []
        try BackupContents.forEachFile(of: contents) { (path, bytes) throws(KeyringError) in
            if path == TrustList.path {
                if only == nil { try restoreTrust(bytes) }
                return
            }
            guard let (name, isOwn) = KeyringFolder.key(at: path), !names.contains(name),
                var file = KeyFile(parsing: bytes, at: path, under: nil), !file.keys.isEmpty, file.isOwn == isOwn
            else { throw .backup }
            guard only == nil || only == name else { return }
            try requireFree(name)
            // The server may know a newer record than the backup does.
            if isOwn { try file.signRecord(at: now) }
            save(file, as: name)
            for stored in file.keys { note(.restored, name, stored.key) }
            names.append(name)
        }
        if let only, names.isEmpty { throw .notFound(only) }
        return names.sorted { $0.description < $1.description }
    }

    private mutating func restoreTrust(_ bytes: [UInt8]) throws(KeyringError) {
        guard let restored = TrustList(parsing: bytes) else { throw .backup }
        var list = try trustList()
        let added = list.addTopics(of: restored)
        guard !added.isEmpty else { return }
        staged.write(TrustList.path, list.text(under: key), isSecret: false)
        for entry in added { note(.trusted, nil, entry.trusted.publicKey) }
    }
}

extension KeyringFolder {
    /// Whose key file has this path; nil where it is no key file.
    static func key(at path: String) -> (name: KeyName, isOwn: Bool)? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, subfolders.contains(String(parts[0])), parts[1].hasSuffix(Keyring.suffix),
            let name = KeyName(parsing: String(parts[1].dropLast(Keyring.suffix.count)))
        else { return nil }
        return (name, parts[0] == privateName)
    }
}
