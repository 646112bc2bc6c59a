internal import PushCrypto
internal import SealedPush
internal import _PushBase

/// What is read and written while a keyring is being changed.
struct KeyringChange {
    private let keyring: Keyring
    /// The keyring's key; nil where it is not sealed.
    let key: MasterKey?
    let now: Timestamp
    var staged: StagedChange
    private(set) var notes: [AuditEntry] = []

    init(_ keyring: Keyring, under key: MasterKey?, at now: Timestamp, _ staged: consuming StagedChange) {
        self.keyring = keyring
        self.key = key
        self.now = now
        self.staged = staged
    }

    func names() throws(KeyringError) -> [KeyName] { try keyring.names() }

    func file(_ name: KeyName) throws(KeyringError) -> KeyFile {
        let file = try keyring.load(name, under: key)
        // Without keyring.txt the keyring looks as if it were not sealed.
        guard key != nil || !file.hasSealedSecrets else { throw .sealMissing(keyring.files.file(KeyringSeal.path)) }
        return file
    }

    /// A file whose secrets are here.
    func ownFile(_ name: KeyName) throws(KeyringError) -> KeyFile {
        let file = try file(name)
        guard file.isOwn else { throw .noSecret(name) }
        return file
    }

    func trustList() throws(KeyringError) -> TrustList { try keyring.trustList(under: key) }

    /// Throws where a name is taken, be it by a file that can't be read.
    func requireFree(_ name: KeyName) throws(KeyringError) {
        for isOwn in [true, false] where try keyring.files.exists(keyring.path(name, isOwn: isOwn)) {
            throw .exists(name)
        }
    }

    mutating func save(_ file: KeyFile, as name: KeyName) {
        let path = keyring.path(name, isOwn: file.isOwn)
        staged.write(path, file.text(at: path, under: key), isSecret: file.isOwn)
    }

    mutating func remove(_ name: KeyName, isOwn: Bool) { staged.remove(keyring.path(name, isOwn: isOwn)) }

    mutating func note(_ event: AuditEntry.Event, _ name: KeyName? = nil, _ key: AnyPublicKey? = nil) {
        notes.append(
            AuditEntry(
                time: now, event: event, name: name, key: key?.keyID.description, command: keyring.command))
    }
}

extension Keyring {
    /// Runs `body`, and makes what it saves and notes last, all of it or nothing.
    func change<Answer>(
        at now: Timestamp, _ body: (inout KeyringChange) throws(KeyringError) -> Answer
    ) throws(KeyringError) -> Answer {
        while true {
            // Asked for before the lock is taken: a person may take his time.
            let first = try firstSeal()
            let key: MasterKey? = if let first { first.key } else { try vault.key() }
            let answer = try files.changing { (staged) throws(KeyringError) -> Answer? in
                guard first == nil ? try vault.isCurrent(key) : try isEmpty() else { return nil }
                if let first { try vault.stage((first.seal, first.text), in: &staged) }
                var change = KeyringChange(self, under: key, at: now, staged)
                let answer = try body(&change)
                writeLog(&change, readUnder: key, writtenUnder: key)
                staged = change.staged
                return answer
            }
            if let answer { return answer }
        }
    }

    /// The seal of a keyring that is only being made, if its passphrase or key is given already: so its secrets are never
    /// on disk in the clear.
    private func firstSeal() throws(KeyringError) -> FirstSeal? {
        guard let secret = vault.givenSecret, try files.reading({ () throws(KeyringError) in try isEmpty() }) else {
            return nil
        }
        let seal = KeyringSeal(secret.kind)
        let key = try seal.key(from: secret)
        let text = seal.text(under: key)
        vault.remember(key, sealedBy: text)
        return FirstSeal(seal: seal, key: key, text: text)
    }

    /// Whether nothing was ever put into this keyring.
    func isEmpty() throws(KeyringError) -> Bool {
        guard try names().isEmpty else { return false }
        for path in [KeyringSeal.path, TrustList.path, AuditHead.path] where try files.exists(path) { return false }
        return true
    }

    /// Stages the audit log's new lines and its new end.
    ///
    /// A damaged or altered head must not stop key work, nor get a MAC of the keyring's: the count begins anew, and the
    /// doctor tells of it.
    func writeLog(_ change: inout KeyringChange, readUnder old: MasterKey?, writtenUnder key: MasterKey?) {
        guard !change.notes.isEmpty else { return }
        let bytes = try? files.read(AuditHead.path)
        let head = bytes.flatMap { AuditHead(parsing: $0, under: old) } ?? .start
        let (lines, end) = AuditLog.lines(change.notes, after: head)
        change.staged.write(AuditLog.name, lines, isSecret: true)
        change.staged.write(AuditHead.path, end.text(under: key), isSecret: true)
    }
}

private struct FirstSeal {
    let seal: KeyringSeal
    let key: MasterKey
    let text: [UInt8]
}

/// Overwrites an array that held a secret; for those who may not import PushCrypto.
package func wipeSecret(_ bytes: inout [UInt8]) { wipe(&bytes) }
