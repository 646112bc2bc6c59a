internal import Foundation
internal import PushCrypto
internal import SealedPush
internal import _PushBase

/// Unlocks a sealed keyring when a secret is first needed, and keeps the key for as long as the keyring is used.
final class Vault: Sendable {
    let folder: KeyringFolder
    private let ask: KeyringUnlocking?
    let expectation: SealExpectation
    private let unlocked = Locked<Unlocked?>(nil)
    /// The folders as they were when nothing in them was of a sealed keyring.
    private let neverSealed = Locked<FolderTimes?>(nil)

    private struct Unlocked {
        /// What `keyring.txt` held.
        let seal: [UInt8]
        let key: MasterKey
    }

    init(_ folder: KeyringFolder, ask: KeyringUnlocking?, expecting expectation: SealExpectation) {
        self.folder = folder
        self.ask = ask
        self.expectation = expectation
    }

    /// How the keyring is sealed; nil where its secrets are in the clear. Only while it is locked.
    func seal() throws(KeyringError) -> KeyringSeal? {
        guard let bytes = try sealText() else { return nil }
        guard let seal = KeyringSeal(parsing: bytes) else { throw .damaged(folder.file(KeyringSeal.path)) }
        return seal
    }

    /// The key, asking for passphrase or key file if need be; nil where the keyring is not sealed. Not while it is locked.
    func key() throws(KeyringError) -> MasterKey? {
        let text = try folder.reading { () throws(KeyringError) in try expectedSealText() }
        return try text.map { (text) throws(KeyringError) in try key(of: text) }
    }

    /// The key if it is there without asking anyone: where a secret was given, it checks what is read, even what could be read
    /// without it. Only while the keyring is locked.
    func keyAtHand() throws(KeyringError) -> MasterKey? {
        guard let text = try expectedSealText() else { return nil }
        return givenSecret == nil ? known(for: text) : try key(of: text)
    }

    /// Whoever names a secret expects it to protect something: a seal that vanished must not go unnoticed.
    private func expectedSealText() throws(KeyringError) -> [UInt8]? {
        if givenSecret != nil, try folder.read(KeyringSeal.path) == nil { throw .notSealed(folder.url) }
        return try sealText()
    }

    /// - Parameter text: what `keyring.txt` holds.
    private func key(of text: [UInt8]) throws(KeyringError) -> MasterKey {
        if let known = known(for: text) { return known }
        guard let seal = KeyringSeal(parsing: text), let file = TextFile(parsing: text) else {
            throw .damaged(folder.file(KeyringSeal.path))
        }
        let key = try seal.key(from: try secret(for: seal.kind))
        guard file.isAuthentic(at: KeyringSeal.path, under: key.storage) else { throw .wrongSecret(seal.kind) }
        unlocked.withLock { $0 = Unlocked(seal: text, key: key) }
        return key
    }

    /// Whether a key that was got before is still the keyring's. Only while it is locked.
    func isCurrent(_ key: MasterKey?) throws(KeyringError) -> Bool {
        guard let bytes = try sealText() else { return key == nil }
        guard key != nil, known(for: bytes) === key else { return false }
        noteSeal(bytes)
        return true
    }

    /// The passphrase or key, if it was named and is not to be asked for.
    var givenSecret: KeyringSecret? {
        guard case .given(let secret)? = ask else { return nil }
        return secret
    }

    /// Keeps a key that was just made, for the `keyring.txt` that holds these bytes.
    func remember(_ key: MasterKey, sealedBy seal: [UInt8]) {
        unlocked.withLock { $0 = Unlocked(seal: seal, key: key) }
    }

    /// What `keyring.txt` holds; nil where the keyring is not sealed, and nothing says that it ever was.
    ///
    /// Every look at whether the keyring is sealed comes through here.
    private func sealText() throws(KeyringError) -> [UInt8]? {
        let text = try folder.read(KeyringSeal.path)
        if text == nil {
            if expectation.isRequired { throw .notSealed(folder.url) }
            try requireNeverSealed()
        }
        try requireNoted(text)
        return text
    }

    /// Throws where a file is of a sealed keyring: without `keyring.txt`, everything in it would be taken unchecked.
    private func requireNeverSealed() throws(KeyringError) {
        let times = FolderTimes(of: folder)
        guard neverSealed.withLock({ $0 != times }) else { return }
        for path in folder.pathsOfTextFiles {
            // One that can't be read is refused by whoever needs it.
            guard var bytes = try? folder.read(path) else { continue }
            defer { wipe(&bytes) }
            guard !TextFile.isOfSealedKeyring(bytes) else { throw .sealMissing(folder.file(KeyringSeal.path)) }
        }
        neverSealed.withLock { $0 = times }
    }

    private func known(for seal: [UInt8]) -> MasterKey? {
        unlocked.withLock { $0?.seal == seal ? $0?.key : nil }
    }

    private func secret(for kind: KeyringSecret.Kind) throws(KeyringError) -> KeyringSecret {
        switch ask {
        case .given(let secret): return secret
        case .asking(let ask): return try ask(kind)
        case nil: throw .needsSecret(kind)
        }
    }
}

/// Where the secret of a sealed keyring comes from.
public enum KeyringUnlocking: Sendable {
    /// This one; a keyring that turns out not to be sealed is then refused.
    case given(KeyringSecret)
    /// Asked for when it is first needed, perhaps of a person. Called without any lock held.
    case asking(@Sendable (KeyringSecret.Kind) throws(KeyringError) -> KeyringSecret)
}

extension Vault {
    /// Throws where the keyring was seen sealed before, and is not as it was then.
    func requireNoted(_ text: [UInt8]?) throws(KeyringError) {
        guard let seen = expectation.seen, let note = seen.note(of: folder.url), let marks = seen.marks(in: note) else {
            return
        }
        let mark: SeenSeals.Mark
        if let text {
            // A damaged one is refused by whoever needs it.
            guard let seal = KeyringSeal(parsing: text) else { return }
            mark = seal.mark
        } else {
            mark = SeenSeals.unsealed
        }
        guard marks.contains(mark) else {
            throw .sealChanged(folder.url, isSealed: text != nil, note: note)
        }
        // A process was killed while it changed the seal.
        if marks.count > 1 { try? seen.write([mark], to: note, of: folder.url) }
    }

    /// Notes a keyring that was unlocked for the first time.
    func noteSeal(_ text: [UInt8]) {
        guard let seen = expectation.seen, let note = seen.note(of: folder.url), seen.marks(in: note) == nil,
            let seal = KeyringSeal(parsing: text)
        else { return }
        try? seen.write([seal.mark], to: note, of: folder.url)
    }

    /// Stages another `keyring.txt`, or its removal, so that the note follows: while the change is made, both seals count.
    func stage(
        _ seal: (seal: KeyringSeal, text: [UInt8])?, in staged: inout StagedChange
    ) throws(KeyringError) {
        if let seal {
            staged.write(KeyringSeal.path, seal.text, isSecret: false)
        } else {
            staged.remove(KeyringSeal.path)
        }
        guard let seen = expectation.seen, let note = seen.note(of: folder.url) else { return }
        let mark = seal?.seal.mark ?? SeenSeals.unsealed
        let folder = folder.url
        if let marks = seen.marks(in: note), let first = marks.first, first != mark {
            do throws(DurableFiles.Failure) { try seen.write([first, mark], to: note, of: folder) } catch {
                throw .file(note, message: error.message)
            }
        }
        staged.afterCommit = { try? seen.write([mark], to: note, of: folder) }
    }
}

/// When the names in a keyring's folders last changed, as the system has it: nobody can set these times.
struct FolderTimes: Equatable {
    private let times: [FileFacts.ChangeTime?]

    init(of folder: KeyringFolder) {
        times = ([folder.url] + KeyringFolder.subfolders.map(folder.file)).map {
            FileFacts(of: $0, following: true)?.changed
        }
    }
}
