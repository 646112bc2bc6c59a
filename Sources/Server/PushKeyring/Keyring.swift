public import Foundation
public import SealedPush

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
    /// Where the keys are.
    public let folder: URL
    let files: KeyringFolder
    let vault: Vault
    let command: String

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
        self.folder = folder
        files = KeyringFolder(url: folder)
        vault = Vault(files, ask: unlocking, expecting: expectation)
        self.command = command
    }

    /// How the keyring is sealed; nil if its secrets are in the clear.
    public func sealKind() throws(KeyringError) -> KeyringSecret.Kind? { try vault.seal()?.kind }

    /// Every name with its keys, sorted, and whether they were checked.
    ///
    /// Needs no secret: of a sealed keyring that was not unlocked, what is listed is **unverified**. No signature of a
    /// record is checked.
    public func entries() throws(KeyringError) -> (keys: [KeyringEntry], isVerified: Bool) {
        let reading = try vault.read(.atHand)
        let entries = reading.contents.sortedNames.compactMap { name in
            reading.contents.names[name].map { KeyringEntry(name: name, $0) }
        }
        return (entries, reading.seal == nil || reading.key != nil)
    }

    /// What is known about one name, likewise.
    public func entry(named name: KeyName) throws(KeyringError) -> KeyringEntry {
        KeyringEntry(name: name, try keys(of: name, .atHand))
    }

    /// The same, checked: in a sealed keyring it needs the secret.
    public func authenticEntry(named name: KeyName) throws(KeyringError) -> KeyringEntry {
        KeyringEntry(name: name, try keys(of: name))
    }

    func keys(of name: KeyName, _ depth: Vault.Depth = .full) throws(KeyringError) -> NamedKeys {
        guard let keys = try vault.read(depth).contents.names[name] else { throw .notFound(name) }
        return keys
    }
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
