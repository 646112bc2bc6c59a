public import SealedPush

extension Keyring {
    /// Returns a backup: a file in the format of `keyring.txt`, sealed under its own secret. It contains everything a new
    /// machine needs, but no audit log, and no retired, revoked, or erased keys, so erased keys don't live on in backups.
    ///
    /// Recorded in the audit log. A backup is at most 16 MiB. Takes about 0.2 s for a passphrase.
    ///
    /// - Parameters:
    ///   - secret: The backup's secret, which need not be the keyring's.
    ///   - now: The current time.
    public func backup(under secret: KeyringSecret, at now: Timestamp = .now()) throws(KeyringError) -> [UInt8] {
        guard try read(.atHand).exists else { throw .file(folder, message: "there is no keyring here") }
        let key = try KeyringSealKey(new: secret)
        return try change(at: now) { (change) throws(KeyringError) in
            var contents = change.contents
            contents.log = .start
            contents.names = contents.names.compactMapValues { $0.forBackup(at: now) }
            let bytes = KeyringFile.bytes(of: contents, under: key)
            guard bytes.count <= TextFile.maximumByteCount else {
                throw .file(folder, message: "the keyring is too large for a backup; the maximum is 16 MiB")
            }
            change.note(.backedUp)
            return bytes
        }
    }

    /// Returns the kind of secret that seals a backup, without opening it.
    ///
    /// - Throws: `backup` if this isn't a backup.
    public static func backupKind(_ bytes: [UInt8]) throws(KeyringError) -> KeyringSecret.Kind {
        guard let file = KeyringFile(parsing: bytes), let seal = file.seal else { throw .backup }
        return seal.kind
    }

    /// The maximum size of a backup in bytes.
    public static var maximumBackupByteCount: Int { TextFile.maximumByteCount }

    /// Creates a keyring from a backup. Never overwrites an existing one.
    ///
    /// The new keyring is sealed under the given secret, or else the backup's, with a new salt. Each of your enrolled
    /// devices signs a new record with a counter higher than any signed after the backup; send it to the server. Changes
    /// made after the backup are lost, such as keys created, revoked, or distrusted later, and others' newer records.
    ///
    /// - Parameters:
    ///   - bytes: The backup.
    ///   - secret: The secret that the backup was made with.
    ///   - now: The current time.
    /// - Returns: The names, sorted.
    /// - Throws: `backup` for a wrong secret or any damage, without changing anything.
    @discardableResult
    public func restore(
        _ bytes: [UInt8], with secret: KeyringSecret, at now: Timestamp = .now()
    ) throws(KeyringError) -> [KeyName] {
        guard let file = KeyringFile(parsing: bytes), file.seal?.kind == secret.kind,
            let key = try file.key(from: secret), file.isAuthentic(under: key), let backup = file.contents(under: key)
        else { throw .backup }
        let newKey: KeyringSealKey? = givenSecret == nil ? try KeyringSealKey(new: secret) : nil
        return try change(at: now) { (change) throws(KeyringError) in
            guard change.contents.names.isEmpty, change.contents.trust.entries.isEmpty, change.contents.log == .start
            else { throw .file(folder, message: "a keyring already exists here, and it is never overwritten") }
            change.contents = backup
            change.key = newKey ?? change.key
            for var keys in backup.sorted {
                // The server may have a newer record than the backup's.
                if keys.isOwn { try keys.signRecord(at: now) }
                change.save(keys)
                for stored in keys.keys { change.note(.restored, keys.name, stored.key) }
            }
            if change.notes.isEmpty { change.note(.restored) }
            return backup.sorted.map(\.name)
        }
    }
}

extension NamedKeys {
    /// Returns the part of a name that a backup contains, or nil if there's none.
    fileprivate func forBackup(at now: Timestamp) -> NamedKeys? {
        var copy = self
        // Answers are accepted for only ten minutes.
        copy.challenge = nil
        guard isOwn else { return copy }
        copy.keys.removeAll { $0.life.state != .active }
        if copy.keys.isEmpty {
            // A device with an enrollment key can still get a new key. Only the public half of its old one is backed up.
            guard enrollmentSecret != nil, var last = keys.first else { return nil }
            last.erase(at: now)
            copy.keys = [last]
        }
        return copy
    }
}
