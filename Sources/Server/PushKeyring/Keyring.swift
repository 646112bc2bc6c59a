public import Foundation
internal import PushCore
internal import SealedPush

/// Keys in a file: a folder whose `keyring.txt` people can read, and a killed process leaves whole.
///
/// Its secrets are sealed under a passphrase or a key (``seal(with:at:)``), or in the clear. In a sealed keyring a MAC covers
/// every byte, and is checked before any key is used; only listing works without the secret.
///
/// Each change is atomic and durable, and is noted in the audit log. Several threads and processes may read and change a
/// keyring at once; readers need no lock, and work on a read-only file system. Source: Docs/KeyManagement.md.
///
/// Not promised: that the file was not put back from an older copy.
public struct Keyring: Sendable {
    let files: KeyringFolder
    let command: String
    private let unlocking: KeyringUnlocking?
    private let expectation: SealExpectation
    /// The key, from when it is first needed on.
    private let unlocked = Locked<SealKey?>(nil)

    /// - Parameters:
    ///   - folder: need not exist before the first key is added.
    ///   - unlocking: where the passphrase or key comes from, if the keyring is sealed. A new keyring is sealed with one
    ///     that is given from its first byte on.
    ///   - expectation: what is known of its seal from elsewhere. Without it, and without a given secret, whoever may write
    ///     the folder can put a keyring there that is not sealed.
    ///   - command: what the audit log names as the cause of a change; no secrets.
    public init(
        folder: URL, unlocking: KeyringUnlocking? = nil, expecting expectation: SealExpectation = SealExpectation(),
        command: String = "library"
    ) {
        files = KeyringFolder(url: folder)
        self.unlocking = unlocking
        self.expectation = expectation
        self.command = command
    }

    /// Where the keys are.
    public var folder: URL { files.url }

    /// How the keyring is sealed; nil if its secrets are in the clear.
    public func sealKind() throws(KeyringError) -> KeyringSecret.Kind? { try read(.known(nil)).seal?.kind }

    /// Every name with its keys, sorted, and whether they were checked.
    ///
    /// Needs no secret: of a sealed keyring that was not unlocked, what is listed is **unverified**. No signature of a
    /// record is checked.
    public func entries() throws(KeyringError) -> (keys: [KeyringEntry], isVerified: Bool) {
        let reading = try read(.atHand)
        return (reading.contents.sorted.map(KeyringEntry.init), reading.seal == nil || reading.key != nil)
    }

    /// What is known about one name, likewise.
    public func entry(named name: KeyName) throws(KeyringError) -> KeyringEntry {
        KeyringEntry(try read(.atHand).contents.keys(of: name))
    }

    /// The same, checked: in a sealed keyring it needs the secret.
    public func authenticEntry(named name: KeyName) throws(KeyringError) -> KeyringEntry {
        KeyringEntry(try keys(of: name))
    }

    func keys(
        of name: KeyName, _ kind: AnyPublicKey.Kind? = nil, isOwn: Bool = false
    ) throws(KeyringError) -> NamedKeys {
        try read(.full).contents.keys(of: name, kind, isOwn: isOwn)
    }
}

/// Where the secret of a sealed keyring comes from.
public enum KeyringUnlocking: Sendable {
    /// This one; a keyring that turns out not to be sealed is then refused.
    case given(KeyringSecret)
    /// Asked for when it is first needed, perhaps of a person. Called without any lock held.
    case asking(@Sendable (KeyringSecret.Kind) throws(KeyringError) -> KeyringSecret)
}

extension Keyring {
    struct Reading {
        let contents: KeyringContents
        let exists: Bool
        /// Nil if it is not sealed.
        let seal: KeyringSeal?
        /// Nil if it is not sealed, or was not unlocked.
        let key: SealKey?
    }

    /// How far a keyring is unlocked.
    enum Depth {
        /// Only by what was given or is known already: without asking a person.
        case atHand
        case full
        /// By this key, if it is the right one: while the keyring is locked.
        case known(SealKey?)
    }

    /// The passphrase or key, if it was named and is not to be asked for.
    var givenSecret: KeyringSecret? {
        guard case .given(let secret)? = unlocking else { return nil }
        return secret
    }

    /// Reads the keyring and checks its MAC under the key, if that is at hand.
    func read(_ depth: Depth) throws(KeyringError) -> Reading {
        guard var bytes = try files.read() else {
            try requireExpected(nil, exists: false)
            return Reading(contents: KeyringContents(), exists: false, seal: nil, key: nil)
        }
        defer { wipe(&bytes) }
        guard let file = KeyringFile(parsing: bytes) else { throw .damaged(files.keyring) }
        try requireExpected(file.seal, exists: true)
        let key = try key(of: file, depth)
        if let key {
            guard file.isAuthentic(under: key) else { throw .altered(files.keyring) }
            noteFirst(key.seal)
        }
        guard let contents = file.contents(under: key) else { throw .damaged(files.keyring) }
        return Reading(contents: contents, exists: true, seal: file.seal, key: key)
    }

    private func key(of file: borrowing KeyringFile, _ depth: Depth) throws(KeyringError) -> SealKey? {
        guard let seal = file.seal else { return nil }
        if let known = unlocked.withLock({ $0?.seal == seal ? $0 : nil }) {
            guard file.isKey(known) else { throw .altered(files.keyring) }
            return known
        }
        let secret: KeyringSecret
        switch (depth, unlocking) {
        case (.known(let key), _): return key.flatMap { file.isKey($0) ? $0 : nil }
        case (_, .given(let given)?): secret = given
        case (.atHand, _): return nil
        case (.full, .asking(let ask)?): secret = try ask(seal.kind)
        case (.full, nil): throw .needsSecret(seal.kind)
        }
        guard let key = try file.key(from: secret) else { throw .wrongSecret(seal.kind) }
        remember(key)
        return key
    }

    func remember(_ key: SealKey) { unlocked.withLock { $0 = key } }

    /// Throws if the keyring should be sealed and is not, or was seen sealed before and is not as it was then.
    ///
    /// - Parameter seal: nil for one that is not sealed, or that is not there: a named secret then seals its first file.
    private func requireExpected(_ seal: KeyringSeal?, exists: Bool) throws(KeyringError) {
        if seal == nil,
            exists ? givenSecret != nil || expectation.isRequired : givenSecret == nil && expectation.isRequired
        {
            throw .notSealed(folder)
        }
        guard let note = expectation.note(of: folder), let marks = SealExpectation.marks(in: note) else { return }
        let mark = seal?.mark ?? SealExpectation.unsealed
        guard marks.contains(mark) else { throw .sealChanged(folder, isSealed: seal != nil, note: note) }
        // A process was killed while it changed the seal.
        if marks.count > 1 { try? SealExpectation.write([mark], to: note, of: folder) }
    }

    /// Notes a keyring that was unlocked for the first time.
    private func noteFirst(_ seal: KeyringSeal) {
        guard let note = expectation.note(of: folder), SealExpectation.marks(in: note) == nil else { return }
        try? SealExpectation.write([seal.mark], to: note, of: folder)
    }

    /// Runs `write`, which gives the keyring another seal or none, so that the note follows: meanwhile both seals count.
    func changingSeal(to seal: KeyringSeal?, _ write: () throws(KeyringError) -> Void) throws(KeyringError) {
        let mark = seal?.mark ?? SealExpectation.unsealed
        let note = expectation.note(of: folder)
        if let note, let first = SealExpectation.marks(in: note)?.first, first != mark {
            do throws(DurableFiles.Failure) { try SealExpectation.write([first, mark], to: note, of: folder) } catch {
                throw .system(note, error)
            }
        }
        try write()
        if let note { try? SealExpectation.write([mark], to: note, of: folder) }
    }
}
