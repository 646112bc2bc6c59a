internal import PushCrypto
public import SealedPush

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
