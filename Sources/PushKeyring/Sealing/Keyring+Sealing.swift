internal import PushCrypto
public import SealedPush

extension Keyring {
    /// Seals the whole keyring anew: under a passphrase, a key, or, with nil, not at all. One change: a process that is
    /// killed leaves it as it was, or as it is to be.
    ///
    /// Each secret gets a fresh key, so the old passphrase opens nothing of the new files. Old copies and backups still
    /// open with it.
    ///
    /// - Throws: the error of the first file that is damaged or was edited; nothing has changed then.
    public func seal(with secret: KeyringSecret?, at now: Timestamp = .now()) throws(KeyringError) {
        let seal = secret.map { KeyringSeal($0.kind) }
        // Before any lock is taken: a passphrase takes its time.
        let newKey: MasterKey? =
            if let seal, let secret { try seal.key(from: secret) } else { nil }
        try change(at: now, sealing: newKey) { (old, new) throws(KeyringError) in
            for name in try old.names() { new.save(try old.file(name), as: name) }
            let list = try trustList(under: old.key)
            // An empty list has a MAC too.
            if try files.exists(TrustList.path) {
                new.staged.write(TrustList.path, list.text(under: newKey), isSecret: false)
            }
            if let seal, let newKey {
                try vault.stage((seal, seal.text(under: newKey)), in: &new.staged)
            } else {
                try vault.stage(nil, in: &new.staged)
            }
            new.note(.sealed)
        }
    }

    /// A change in which what is written is under another key than what is read.
    func change(
        at now: Timestamp, sealing newKey: MasterKey?,
        _ body: (KeyringChange, inout KeyringChange) throws(KeyringError) -> Void
    ) throws(KeyringError) {
        while true {
            let key = try vault.key()
            let isDone = try files.changing { (staged) throws(KeyringError) in
                guard try vault.isCurrent(key) else { return false }
                let old = KeyringChange(self, under: key, at: now, StagedChange())
                var new = KeyringChange(self, under: newKey, at: now, staged)
                try body(old, &new)
                writeLog(&new, readUnder: key, writtenUnder: newKey)
                staged = new.staged
                return true
            }
            if isDone { return }
        }
    }
}
