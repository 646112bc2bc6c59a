public import Foundation
internal import PushCore

/// A folder of keys, whose `keyring.txt` is human-readable and stays intact if a process is killed.
///
/// A server needs few keys, but over years: a sender's key and its successor, the app's authority on another machine, a test
/// device. A keyring keeps them under names, and knows about each whether it is in use, retired, or revoked. It is one file that
/// an operator can read, copy, and back up, and a library that changes it without ever leaving it half-written.
///
/// ```swift
/// let keyring = Keyring(folder: folder, unlocking: .given(.passphrase(passphrase)))
/// try keyring.generateSender(named: "server")
/// let key = try keyring.senderKey(named: "server")
/// ```
/// A key's life in a keyring:
/// 1. It is generated, or added under a name if it is someone else's.
/// 2. It is used: code asks for a name, and gets the newest key that the other end knows.
/// 3. ``rotate(_:at:)`` adds a successor under the same name. ``confirm(_:at:)`` puts it to use and retires the older key, which
///    still opens earlier messages.
/// 4. ``revoke(_:key:at:)`` ends a key at once after a theft, and ``erase(_:key:at:)`` destroys the secret of one that nobody
///    needs anymore. Both are final.
///
/// The secrets are sealed with a passphrase or a key (``seal(with:at:)``), or stored in the clear, for a machine whose disk is
/// trusted. In a sealed keyring, a MAC covers every byte, and is checked before any key is used. Only listing works without
/// the secret, and says that it wasn't verified.
///
/// Promises:
/// - Each change is atomic, durable, and recorded in the audit log. A killed process leaves the old file or the new one.
/// - Several threads and processes can read and change a keyring at the same time. Changes take turns with a lock. Readers don't
///   need one, and work on a read-only file system.
/// - Files are refused if other users could have changed them, or, if they contain secrets in the clear, read them.
///
/// A keyring can't detect that its file was replaced with an older copy, or with an unsealed one, unless the caller knows better;
/// see ``SealExpectation``.
///
/// A value reads the file at each call, so a change by another process counts at once. It caches only the key that unlocks the
/// file, in memory that is wiped. Source: Docs/KeyManagement.md.
public struct Keyring: Sendable {
    let files: KeyringFolder
    let command: String
    private let unlocking: KeyringUnlocking?
    private let expectation: SealExpectation
    /// The key, cached after its first use.
    private let unlocked = Locked<KeyringSealKey?>(nil)

    /// - Parameters:
    ///   - folder: The folder, which need not exist until the first key is added.
    ///   - unlocking: The source of the passphrase or key, if the keyring is sealed. A given secret also seals a new keyring.
    ///   - expectation: The expected seal, as known from elsewhere. Without it, and without a given secret, anyone who can
    ///     write to the folder can substitute an unsealed keyring.
    ///   - command: The cause of changes for the audit log. It must not contain a secret.
    public init(
        folder: URL, unlocking: KeyringUnlocking? = nil, expecting expectation: SealExpectation = SealExpectation(),
        command: String = "library"
    ) {
        files = KeyringFolder(url: folder)
        self.unlocking = unlocking
        self.expectation = expectation
        self.command = command
    }

    /// The folder with the keys.
    public var folder: URL { files.url }

    /// Returns how the keyring is sealed, or nil if its secrets are in the clear.
    public func sealKind() throws(KeyringError) -> KeyringSecret.Kind? { try read(.known(nil)).seal?.kind }

    /// Returns every name with its keys, sorted, and whether they were checked.
    ///
    /// Doesn't need the secret, but entries of a sealed keyring that is locked are **unverified**. Doesn't check signatures.
    public func entries() throws(KeyringError) -> (keys: [KeyringEntry], isVerified: Bool) {
        let reading = try read(.atHand)
        return (reading.contents.sorted.map(KeyringEntry.init), reading.seal == nil || reading.key != nil)
    }

    /// Returns the entry for one name, like ``entries()``.
    public func entry(named name: KeyName) throws(KeyringError) -> KeyringEntry {
        KeyringEntry(try read(.atHand).contents.keys(of: name))
    }

    /// Returns the entry for one name, checked. In a sealed keyring, this needs the secret.
    public func authenticEntry(named name: KeyName) throws(KeyringError) -> KeyringEntry {
        KeyringEntry(try keys(of: name))
    }

    func keys(
        of name: KeyName, _ kind: AnyPublicKey.Kind? = nil, isOwn: Bool = false
    ) throws(KeyringError) -> NamedKeys {
        try read(.full).contents.keys(of: name, kind, isOwn: isOwn)
    }
}

extension Keyring {
    struct Reading {
        let contents: KeyringContents
        let exists: Bool
        /// Nil if the keyring isn't sealed.
        let seal: KeyringSeal?
        /// Nil if the keyring isn't sealed, or wasn't unlocked.
        let key: KeyringSealKey?
    }

    /// How far a keyring is unlocked.
    enum Depth {
        /// With a secret that was given or is already known, without prompting.
        case atHand
        case full
        /// With this key, if it's the right one, while the keyring is locked.
        case known(KeyringSealKey?)
    }

    /// The passphrase or key, if it was given in advance rather than asked for.
    var givenSecret: KeyringSecret? {
        guard case .given(let secret)? = unlocking else { return nil }
        return secret
    }

    /// Reads the keyring, and checks its MAC if the key is available.
    func read(_ depth: Depth) throws(KeyringError) -> Reading {
        var exposure: KeyringError?
        guard var bytes = try files.read(exposure: &exposure) else {
            try requireExpected(nil, exists: false)
            return Reading(contents: KeyringContents(), exists: false, seal: nil, key: nil)
        }
        defer { wipe(&bytes) }
        guard let file = KeyringFile(parsing: bytes) else { throw .damaged(files.keyring) }
        try requireExpected(file.seal, exists: true)
        if case .full = depth, file.seal == nil, let exposure { throw exposure }
        let key = try key(of: file, depth)
        if let key {
            guard file.isAuthentic(under: key) else { throw .altered(files.keyring) }
            noteFirst(key.seal)
        }
        guard let contents = file.contents(under: key) else { throw .damaged(files.keyring) }
        return Reading(contents: contents, exists: true, seal: file.seal, key: key)
    }

    private func key(of file: borrowing KeyringFile, _ depth: Depth) throws(KeyringError) -> KeyringSealKey? {
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

    func remember(_ key: KeyringSealKey) { unlocked.withLock { $0 = key } }

    /// Throws if the keyring should be sealed and isn't, or if its seal has changed since it was last seen. `seal` is nil
    /// if the keyring isn't sealed or doesn't exist; a given secret then seals its first file.
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

    /// Writes a note for a keyring that was unlocked for the first time.
    private func noteFirst(_ seal: KeyringSeal) {
        guard let note = expectation.note(of: folder), SealExpectation.marks(in: note) == nil else { return }
        try? SealExpectation.write([seal.mark], to: note, of: folder)
    }

    /// Runs `write`, which changes or removes the seal, and updates the note. In the meantime, the note accepts both seals.
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
