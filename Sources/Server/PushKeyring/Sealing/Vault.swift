internal import Foundation
internal import PushCore
internal import SealedPush

/// Reads a keyring, unlocks it when its secret is first needed, and keeps the key for as long as the keyring is used.
final class Vault: Sendable {
    let folder: KeyringFolder
    private let ask: KeyringUnlocking?
    private let expectation: SealExpectation
    private let unlocked = Locked<SealKey?>(nil)

    init(_ folder: KeyringFolder, ask: KeyringUnlocking?, expecting expectation: SealExpectation) {
        self.folder = folder
        self.ask = ask
        self.expectation = expectation
    }

    /// What was read.
    struct Reading {
        let contents: KeyringContents
        /// Whether there is a keyring at all.
        let exists: Bool
        /// Nil if it is not sealed.
        let seal: KeyringSeal?
        /// Nil if it is not sealed, or was not unlocked.
        let key: MasterKey?
    }

    /// How far a keyring is unlocked.
    enum Depth {
        /// Only by what was given or is known already: without asking a person.
        case atHand
        case full
        /// By this key, if it is the right one: while the keyring is locked.
        case known(MasterKey?)
    }

    /// The passphrase or key, if it was named and is not to be asked for.
    var givenSecret: KeyringSecret? {
        guard case .given(let secret)? = ask else { return nil }
        return secret
    }

    /// How the keyring is sealed; nil if its secrets are in the clear.
    func seal() throws(KeyringError) -> KeyringSeal? {
        var bytes = try folder.read() ?? []
        defer { wipe(&bytes) }
        guard !bytes.isEmpty else {
            try requireExpected(nil, exists: false)
            return nil
        }
        guard let file = KeyringFile(parsing: bytes) else { throw .damaged(folder.keyring) }
        try requireExpected(file.seal, exists: true)
        return file.seal
    }

    /// Reads the keyring and checks its MAC under the key, if that is at hand.
    func read(_ depth: Depth) throws(KeyringError) -> Reading {
        guard var bytes = try folder.read() else {
            try requireExpected(nil, exists: false)
            return Reading(contents: KeyringContents(), exists: false, seal: nil, key: nil)
        }
        defer { wipe(&bytes) }
        guard let file = KeyringFile(parsing: bytes) else { throw .damaged(folder.keyring) }
        try requireExpected(file.seal, exists: true)
        let key = try key(of: file, depth)
        if let key {
            guard file.isAuthentic(under: key) else { throw .altered(folder.keyring) }
            noteFirst(file.seal)
        }
        guard let contents = file.contents(under: key) else { throw .damaged(folder.keyring) }
        return Reading(contents: contents, exists: true, seal: file.seal, key: key)
    }

    private func key(of file: borrowing KeyringFile, _ depth: Depth) throws(KeyringError) -> MasterKey? {
        guard let seal = file.seal else { return nil }
        if let known = unlocked.withLock({ $0?.seal == seal ? $0?.key : nil }) {
            guard file.isKey(known) else { throw .altered(folder.keyring) }
            return known
        }
        let secret: KeyringSecret
        switch (depth, ask) {
        case (.known(let key), _): return key.flatMap { file.isKey($0) ? $0 : nil }
        case (_, .given(let given)?): secret = given
        case (.atHand, _): return nil
        case (.full, .asking(let ask)?): secret = try ask(seal.kind)
        case (.full, nil): throw .needsSecret(seal.kind)
        }
        let key = try seal.key(from: secret)
        guard file.isKey(key) else { throw .wrongSecret(seal.kind) }
        remember(SealKey(seal: seal, key: key))
        return key
    }

    /// Keeps a key that was just made.
    func remember(_ key: SealKey) { unlocked.withLock { $0 = key } }
}

/// Where the secret of a sealed keyring comes from.
public enum KeyringUnlocking: Sendable {
    /// This one; a keyring that turns out not to be sealed is then refused.
    case given(KeyringSecret)
    /// Asked for when it is first needed, perhaps of a person. Called without any lock held.
    case asking(@Sendable (KeyringSecret.Kind) throws(KeyringError) -> KeyringSecret)
}

extension Vault {
    /// Throws if the keyring should be sealed and is not, or was seen sealed before and is not as it was then.
    ///
    /// - Parameter seal: nil for one that is not sealed, or that is not there: a named secret then seals its first file.
    private func requireExpected(_ seal: KeyringSeal?, exists: Bool) throws(KeyringError) {
        if seal == nil,
            exists ? givenSecret != nil || expectation.isRequired : givenSecret == nil && expectation.isRequired
        {
            throw .notSealed(folder.url)
        }
        guard let seen = expectation.seen, let note = seen.note(of: folder.url), let marks = seen.marks(in: note) else {
            return
        }
        let mark = seal?.mark ?? SeenSeals.unsealed
        guard marks.contains(mark) else { throw .sealChanged(folder.url, isSealed: seal != nil, note: note) }
        // A process was killed while it changed the seal.
        if marks.count > 1 { try? seen.write([mark], to: note, of: folder.url) }
    }

    /// Notes a keyring that was unlocked for the first time.
    private func noteFirst(_ seal: KeyringSeal?) {
        guard let seal, let seen = expectation.seen, let note = seen.note(of: folder.url), seen.marks(in: note) == nil
        else { return }
        try? seen.write([seal.mark], to: note, of: folder.url)
    }

    /// Runs `write`, which gives the keyring another seal or none, so that the note follows: meanwhile both seals count.
    func changingSeal(to seal: KeyringSeal?, _ write: () throws(KeyringError) -> Void) throws(KeyringError) {
        let mark = seal?.mark ?? SeenSeals.unsealed
        let note = expectation.seen.flatMap { $0.note(of: folder.url) }
        if let seen = expectation.seen, let note, let first = seen.marks(in: note)?.first, first != mark {
            try folder.system(note) { () throws(DurableFiles.Failure) in
                try seen.write([first, mark], to: note, of: folder.url)
            }
        }
        try write()
        if let seen = expectation.seen, let note { try? seen.write([mark], to: note, of: folder.url) }
    }
}
