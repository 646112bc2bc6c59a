internal import PushCore
public import SealedPush

extension Keyring {
    /// The keyring as one file under a secret of its own, in the format of `keyring.txt`: all that a new machine needs,
    /// without retired, revoked and erased keys, so that what was erased here does not live on there, and without the
    /// audit log.
    ///
    /// Noted in the audit log. At most 16 MiB; about 0.2 s for a passphrase.
    ///
    /// - Parameter secret: need not be the keyring's.
    public func backup(under secret: KeyringSecret, at now: Timestamp = .now()) throws(KeyringError) -> [UInt8] {
        guard try read(.atHand).exists else { throw .file(folder, message: "there is no keyring") }
        let key = try SealKey(new: secret)
        return try change(at: now) { (change) throws(KeyringError) in
            var contents = change.contents
            contents.log = .start
            contents.names = contents.names.compactMapValues { $0.forBackup(at: now) }
            let bytes = KeyringFile.bytes(of: contents, under: key)
            guard bytes.count <= TextFile.maximumByteCount else {
                throw .file(folder, message: "the keyring is too large for a backup, which has at most 16 MiB")
            }
            change.note(.backedUp)
            return bytes
        }
    }

    /// What a backup is sealed under, without opening it.
    ///
    /// - Throws: `backup` if this is not a backup.
    public static func backupKind(_ bytes: [UInt8]) throws(KeyringError) -> KeyringSecret.Kind {
        guard let file = KeyringFile(parsing: bytes), let seal = file.seal else { throw .backup }
        return seal.kind
    }

    /// No backup is larger, in bytes.
    public static var maximumBackupByteCount: Int { TextFile.maximumByteCount }

    /// Makes a keyring from a backup; never overwrites one.
    ///
    /// It is sealed under the secret that this keyring was given, otherwise under the backup's, with a fresh salt. Each
    /// enrolled device of one's own signs a new record, whose counter is higher than any that was signed after the backup
    /// was made; send it to the server. What changed since the backup is not known afterwards: keys that were made,
    /// revoked or distrusted later, and newer records of others.
    ///
    /// - Parameter secret: what the backup was made with.
    /// - Returns: the names, sorted.
    /// - Throws: `backup` for another secret and for every damage. Nothing has changed then.
    @discardableResult
    public func restore(
        _ bytes: [UInt8], with secret: KeyringSecret, at now: Timestamp = .now()
    ) throws(KeyringError) -> [KeyName] {
        guard let file = KeyringFile(parsing: bytes), file.seal?.kind == secret.kind,
            let key = try file.key(from: secret), file.isAuthentic(under: key), let backup = file.contents(under: key)
        else { throw .backup }
        let newKey: SealKey? = givenSecret == nil ? try SealKey(new: secret) : nil
        return try change(at: now) { (change) throws(KeyringError) in
            guard change.contents.names.isEmpty, change.contents.trust.entries.isEmpty, change.contents.log == .start
            else { throw .file(folder, message: "there is a keyring already, and it is never overwritten") }
            change.contents = backup
            change.key = newKey ?? change.key
            for var keys in backup.sorted {
                // The server may know a newer record than the backup does.
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
    /// What a backup holds of a name; nil if that is nothing.
    fileprivate func forBackup(at now: Timestamp) -> NamedKeys? {
        var copy = self
        // Answers count for ten minutes only.
        copy.challenge = nil
        guard isOwn else { return copy }
        copy.keys.removeAll { $0.life.state != .active }
        if copy.keys.isEmpty {
            // A device with an enrollment key can still get a new key; of the old one only the public half goes along.
            guard enrollmentSecret != nil, var last = keys.first else { return nil }
            last.erase(at: now)
            copy.keys = [last]
        }
        return copy
    }
}
