public import Foundation
public import SealedPush

/// Keys in files: a folder with one public file a key, readable by tools and people, and one private file for each secret.
///
/// `public/NAME.txt` may be given to anyone; `private/NAME.txt` has mode 0600, in a folder of mode 0700 that git
/// ignores. Files are
/// written aside, synced and linked into place, so that a process killed at any moment leaves a key whole or not at all,
/// and no key is ever overwritten. Safe from several threads and processes.
///
/// Not promised: secrets are in the clear on disk; protect the folder as you protect the server.
public struct Keyring: Sendable {
    /// Where the keys are.
    public let folder: URL

    /// - Parameter folder: need not exist before the first key is added.
    public init(folder: URL) { self.folder = folder }

    /// Makes a device's key. Its name is free afterwards for no other key.
    public func generateDevice(named name: KeyName, at now: Timestamp = .now()) throws(KeyringError) -> Recipient {
        let identity = Identity()
        try add(name, .device(identity.recipient), created: now) { (write) throws(KeyringError) in
            try identity.withSecretText(write)
        }
        return identity.recipient
    }

    /// Makes a sender's key.
    public func generateSender(named name: KeyName, at now: Timestamp = .now()) throws(KeyringError) -> Sender {
        let key = SenderKey()
        try add(name, .sender(key.sender), created: now) { (write) throws(KeyringError) in
            try key.withSecretText(write)
        }
        return key.sender
    }

    /// Adds the public key of somebody else.
    public func add(
        _ key: PublicKey, named name: KeyName, at now: Timestamp = .now()
    ) throws(KeyringError) {
        try prepare()
        guard !contains(name) else { throw .exists(name) }
        try write(KeyFile.text(key, created: now), to: publicFile(name), name)
    }

    /// Every key, by name, and the errors of those that can't be read: a damaged file costs itself only.
    public func entries() throws(KeyringError) -> (keys: [KeyringEntry], errors: [KeyringError]) {
        var names: Set<String> = []
        for folder in [publicFolder, privateFolder] {
            for file in try fileNames(in: folder) where file.hasSuffix(Self.suffix) {
                names.insert(String(file.dropLast(Self.suffix.count)))
            }
        }
        var keys: [KeyringEntry] = []
        var errors: [KeyringError] = []
        for name in names.sorted() {
            guard let name = KeyName(parsing: name) else { continue }
            do { keys.append(try entry(named: name)) } catch { errors.append(error) }
        }
        return (keys, errors)
    }

    /// One key's public part.
    public func entry(named name: KeyName) throws(KeyringError) -> KeyringEntry {
        let hasSecret = FileManager.default.fileExists(atPath: privateFile(name).path(percentEncoded: false))
        if let file = try readIfThere(publicFile(name)) {
            guard let key = file.publicKey else { throw .damaged(publicFile(name)) }
            if hasSecret {
                // Two halves that do not belong together would seal to one device and open on none.
                guard let secret = try readIfThere(privateFile(name)), secret.publicKeyOfSecret == key else {
                    throw .damaged(privateFile(name))
                }
            }
            return KeyringEntry(name: name, key: key, created: file.created, hasSecret: hasSecret)
        }
        // A process was killed between the private file and the public one: everything is there still.
        guard let file = try readIfThere(privateFile(name)) else { throw .notFound(name) }
        guard let key = file.publicKeyOfSecret else { throw .damaged(privateFile(name)) }
        return KeyringEntry(name: name, key: key, created: file.created, hasSecret: true)
    }

    /// A device's public key: one's own, or one that was added.
    public func recipient(named name: KeyName) throws(KeyringError) -> Recipient {
        guard case .device(let recipient) = try entry(named: name).key else {
            throw .wrongKind(name, expected: .device)
        }
        return recipient
    }

    /// A sender's public key, likewise.
    public func sender(named name: KeyName) throws(KeyringError) -> Sender {
        guard case .sender(let sender) = try entry(named: name).key else { throw .wrongKind(name, expected: .sender) }
        return sender
    }

    /// A device's own key, with its secret.
    public func deviceKey(named name: KeyName) throws(KeyringError) -> DeviceKey {
        let file = try secretFile(name)
        guard file.kind == .device else { throw .wrongKind(name, expected: .device) }
        guard let identity = file.identity else { throw .damaged(privateFile(name)) }
        return DeviceKey(identity, created: file.created)
    }

    /// A sender's key, with its secret.
    public func senderKey(named name: KeyName) throws(KeyringError) -> SenderKey {
        let file = try secretFile(name)
        guard file.kind == .sender else { throw .wrongKind(name, expected: .sender) }
        guard let key = file.senderKey else { throw .damaged(privateFile(name)) }
        return key
    }

    var publicFolder: URL { folder.appending(path: "public", directoryHint: .isDirectory) }
    var privateFolder: URL { folder.appending(path: "private", directoryHint: .isDirectory) }
    func publicFile(_ name: KeyName) -> URL { publicFolder.appending(path: name.description + Self.suffix) }
    func privateFile(_ name: KeyName) -> URL { privateFolder.appending(path: name.description + Self.suffix) }
    static let suffix = ".txt"
}
