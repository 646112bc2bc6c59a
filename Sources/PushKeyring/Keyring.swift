public import Foundation
public import SealedPush

/// Keys in files: a folder that people can read, tools can change, and a killed process leaves whole.
///
/// One file a name: `private/NAME.txt` (mode 0600, in a folder of mode 0700 that git ignores) for keys of one's own, with
/// their secrets, `public/NAME.txt` for keys of others. Secrets are sealed under a passphrase or a key
/// (``seal(with:at:)``), or in the clear. In a sealed keyring each file has a MAC, so that what was edited by something else is
/// noticed by everything that uses it; only listing works without the secret. A keyring that lacks its seal while a file
/// in it is of a sealed one is refused by everything that reads it: the first read of one that is not sealed looks at every
/// file, which costs some ten microseconds each.
///
/// Each change is atomic and durable, also across files, and is noted in the audit log. Several threads and processes may
/// read and change a keyring at once. Source: Docs/KeyManagement.md.
///
/// Not promised: that a whole file, or the whole folder, was not put back from an older copy.
public struct Keyring: Sendable {
    /// Where the keys are.
    public let folder: URL
    let files: KeyringFolder
    let vault: Vault
    let command: String

    /// - Parameters:
    ///   - folder: need not exist before the first key is added.
    ///   - unlocking: where the passphrase or key comes from, if the keyring is sealed. A new keyring is sealed with one
    ///     that is given from its first file on.
    ///   - expectation: what is known of its seal from elsewhere. Without it, and without a given secret, whoever may write
    ///     the folder can put a keyring there that is not sealed.
    ///   - command: what the audit log names as the cause of a change; no secrets.
    public init(
        folder: URL, unlocking: KeyringUnlocking? = nil, expecting expectation: SealExpectation = SealExpectation(),
        command: String = "library"
    ) {
        self.folder = folder
        files = KeyringFolder(url: folder)
        vault = Vault(files, ask: unlocking, expecting: expectation)
        self.command = command
    }

    /// How the keyring is sealed; nil where its secrets are in the clear.
    public func sealKind() throws(KeyringError) -> KeyringSecret.Kind? {
        try files.reading { () throws(KeyringError) in try vault.seal()?.kind }
    }

    /// Every name with its keys, and the errors of those that can't be read: one damaged file does not affect the others.
    ///
    /// Needs no secret. Where one was given, or the keyring is unlocked already, what was edited is found.
    public func entries() throws(KeyringError) -> (keys: [KeyringEntry], errors: [KeyringError]) {
        try files.reading { () throws(KeyringError) in
            let key = try keyAtHand()
            var entries: [KeyringEntry] = []
            var errors: [KeyringError] = []
            for name in try names() {
                do throws(KeyringError) { entries.append(try entry(name, under: key)) } catch { errors.append(error) }
            }
            return (entries, errors)
        }
    }

    /// What is known about one name, likewise.
    public func entry(named name: KeyName) throws(KeyringError) -> KeyringEntry {
        try files.reading { () throws(KeyringError) in try entry(name, under: try keyAtHand()) }
    }

    /// The same, where something hangs on its being true: in a sealed keyring it needs the secret, and checks the MAC.
    public func authenticEntry(named name: KeyName) throws(KeyringError) -> KeyringEntry {
        try unlocked { (key) throws(KeyringError) in try entry(name, under: key) }
    }

    /// What was given for a new keyring seals its first file; until then there is nothing to check. Only while it is locked.
    func keyAtHand() throws(KeyringError) -> MasterKey? {
        do { return try vault.keyAtHand() } catch {
            guard case .notSealed = error, try isEmpty() else { throw error }
            return nil
        }
    }

    private func entry(_ name: KeyName, under key: MasterKey?) throws(KeyringError) -> KeyringEntry {
        let file = try load(name, under: key)
        guard let entry = KeyringEntry(name: name, file) else { throw .damaged(files.file(path(name, isOwn: true))) }
        return entry
    }
}

extension Keyring {
    /// Every name that has a file, sorted.
    func names() throws(KeyringError) -> [KeyName] {
        var names: Set<String> = []
        for subfolder in KeyringFolder.subfolders {
            for file in try files.names(in: subfolder) where file.hasSuffix(Self.suffix) {
                names.insert(String(file.dropLast(Self.suffix.count)))
            }
        }
        return names.sorted().compactMap(KeyName.init(parsing:))
    }

    /// Reads with the keyring's key, asking for it if need be.
    func unlocked<Answer>(
        _ body: (MasterKey?) throws(KeyringError) -> Answer
    ) throws(KeyringError) -> Answer {
        while true {
            let key = try vault.key()
            let answer = try files.reading { () throws(KeyringError) -> Answer? in
                // Between the two, another process may have sealed the keyring anew.
                try vault.isCurrent(key) ? try body(key) : nil
            }
            if let answer { return answer }
        }
    }

    /// One name's file; authentic, where a key is given.
    func load(_ name: KeyName, under key: MasterKey?) throws(KeyringError) -> KeyFile {
        for isOwn in [true, false] {
            let path = path(name, isOwn: isOwn)
            guard var bytes = try files.read(path) else { continue }
            defer { wipeSecret(&bytes) }
            return try parse(bytes, at: path, under: key)
        }
        throw .notFound(name)
    }

    func parse(_ bytes: [UInt8], at path: String, under key: MasterKey?) throws(KeyringError) -> KeyFile {
        if let key {
            guard let text = TextFile(parsing: bytes) else { throw .damaged(files.file(path)) }
            guard text.isAuthentic(at: path, under: key.storage) else { throw .altered(files.file(path)) }
        }
        guard let file = KeyFile(parsing: bytes, at: path, under: key), !file.keys.isEmpty else {
            throw .damaged(files.file(path))
        }
        // Changes are written by what a file holds: one in the wrong place would stay beside them, and go on counting.
        let folder = file.isOwn ? KeyringFolder.privateName : KeyringFolder.publicName
        guard path.hasPrefix(folder + "/") else { throw .damaged(files.file(path)) }
        return file
    }

    func path(_ name: KeyName, isOwn: Bool) -> String {
        (isOwn ? KeyringFolder.privateName : KeyringFolder.publicName) + "/" + name.description + Self.suffix
    }

    static let suffix = ".txt"
}

/// One device's keys in a keyring, as what opens asks for them.
public struct KeyringStore: KeyStore {
    private let keyring: Keyring
    private let name: KeyName

    public init(_ keyring: Keyring, device name: KeyName) {
        self.keyring = keyring
        self.name = name
    }

    public func keys(for id: KeyID) throws(KeyStoreError) -> [DeviceKey] {
        do {
            return try keyring.deviceKeys(named: name).filter { $0.identity.recipient.keyID == id }
        } catch {
            throw .unavailable(error.description)
        }
    }

    public func senderSet(for topic: Topic) throws(KeyStoreError) -> SenderSet? {
        do { return try keyring.trustList().senderSet(for: topic) } catch { throw .unavailable(error.description) }
    }
}
