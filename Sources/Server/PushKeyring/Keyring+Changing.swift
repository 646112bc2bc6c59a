internal import PushCore
public import SealedPush

/// What is read and written while a keyring is being changed.
struct KeyringChange {
    var contents: KeyringContents
    /// Nil if the keyring is not sealed.
    var seal: SealKey?
    let now: Timestamp
    let command: String
    fileprivate(set) var notes: [AuditEntry] = []

    func keys(_ name: KeyName) throws(KeyringError) -> NamedKeys {
        guard let keys = contents.names[name] else { throw .notFound(name) }
        return keys
    }

    /// Keys whose secrets are here.
    func ownKeys(_ name: KeyName) throws(KeyringError) -> NamedKeys {
        let keys = try keys(name)
        guard keys.isOwn else { throw .noSecret(name) }
        return keys
    }

    func requireFree(_ name: KeyName) throws(KeyringError) {
        guard contents.names[name] == nil else { throw .exists(name) }
    }

    mutating func save(_ keys: NamedKeys, as name: KeyName) { contents.names[name] = keys }

    mutating func note(_ event: AuditEntry.Event, _ name: KeyName? = nil, _ key: AnyPublicKey? = nil) {
        notes.append(AuditEntry(time: now, event: event, name: name, key: key?.keyID.description, command: command))
    }
}

extension Keyring {
    /// Runs `body`, and makes what it saves last, all of it or nothing. A change that notes nothing is not written.
    func change<Answer>(
        at now: Timestamp, _ body: (inout KeyringChange) throws(KeyringError) -> Answer
    ) throws(KeyringError) -> Answer {
        while true {
            // Before the lock is taken: a person may take a while to answer, and a passphrase takes its time.
            let before = try vault.read(.full)
            var first: SealKey?
            if !before.exists, let secret = vault.givenSecret { first = try SealKey(new: secret) }
            let answer = try files.locked { () throws(KeyringError) -> Answer? in
                let reading = try vault.read(.known(before.key))
                // Between the two, another process may have sealed the keyring anew, or made one.
                guard reading.exists == before.exists, reading.seal == before.seal else { return nil }
                let seal = reading.seal.flatMap { seal in reading.key.map { SealKey(seal: seal, key: $0) } } ?? first
                var change = KeyringChange(contents: reading.contents, seal: seal, now: now, command: command)
                let answer = try body(&change)
                if change.notes.isEmpty { return answer }
                if change.seal?.seal == reading.seal, reading.exists {
                    try write(&change)
                } else {
                    try vault.changingSeal(to: change.seal?.seal) { () throws(KeyringError) in try write(&change) }
                }
                return answer
            }
            if let answer { return answer }
        }
    }

    /// The log first: it may tell of a change that was not made, and never lacks one that was.
    private func write(_ change: inout KeyringChange) throws(KeyringError) {
        do throws(DurableFiles.Failure) {
            try AuditLog.append(change.notes, to: files.log, after: &change.contents.log)
        } catch { throw .file(files.log, message: error.code == EINVAL ? "this is not a regular file" : error.message) }
        var bytes = KeyringFile.bytes(of: change.contents, under: change.seal)
        defer { wipe(&bytes) }
        try files.write(bytes)
        if let seal = change.seal { vault.remember(seal) }
    }

    /// Seals the whole keyring anew: under a passphrase, a key, or, with nil, not at all. One change: a process that is
    /// killed leaves it as it was, or as it is to be.
    ///
    /// The secrets get a fresh key, so the old passphrase opens nothing of the new file. Old copies and backups still
    /// open with it. The audit log is taken as it stands: look at it first.
    public func seal(with secret: KeyringSecret?, at now: Timestamp = .now()) throws(KeyringError) {
        let seal: SealKey? = if let secret { try SealKey(new: secret) } else { nil }
        try change(at: now) { (change) throws(KeyringError) in
            change.seal = seal
            do throws(DurableFiles.Failure) { change.contents.log = try AuditLog.end(of: files.log) } catch {
                throw .file(files.log, message: error.message)
            }
            change.note(.sealed)
        }
    }
}

/// Overwrites an array that held a secret; for modules that do not import PushCore.
package func wipeSecret(_ bytes: inout [UInt8]) { wipe(&bytes) }
