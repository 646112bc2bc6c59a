public import Foundation
public import SealedPush

/// Keys in files: a folder with one public file a key, readable by tools and people, and one private file for each secret.
///
/// `public/NAME.txt` may be given to anyone; `private/NAME.txt` has mode 0600, in a folder of mode 0700. Files are
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
        guard try !contains(name) else { throw .exists(name) }
        try write(KeyFile.text(key, created: now), to: publicFile(name), name)
    }

    /// Every key, by name. A damaged file is an error that names it; ask for the others by name.
    public func entries() throws(KeyringError) -> [KeyringEntry] {
        var names: Set<String> = []
        for folder in [publicFolder, privateFolder] {
            for file in try fileNames(in: folder) where file.hasSuffix(Self.suffix) {
                names.insert(String(file.dropLast(Self.suffix.count)))
            }
        }
        var entries: [KeyringEntry] = []
        for name in names.sorted() {
            guard let name = KeyName(parsing: name) else { continue }
            entries.append(try entry(named: name))
        }
        return entries
    }

    /// One key's public part.
    public func entry(named name: KeyName) throws(KeyringError) -> KeyringEntry {
        let hasSecret = FileManager.default.fileExists(atPath: privateFile(name).path(percentEncoded: false))
        if let file = try readIfThere(publicFile(name)) {
            guard let key = file.publicKey else { throw .damaged(publicFile(name)) }
            return KeyringEntry(name: name, key: key, created: file.created, hasSecret: hasSecret)
        }
        // A process was killed between the private file and the public one: everything is there still.
        guard let file = try readIfThere(privateFile(name)) else { throw .notFound(name) }
        guard let key = file.publicKeyOfSecret else { throw .damaged(privateFile(name)) }
        return KeyringEntry(name: name, key: key, created: file.created, hasSecret: true)
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

/// A public key of either kind.
public enum PublicKey: Hashable, Sendable, CustomStringConvertible {
    case device(Recipient)
    case sender(Sender)

    /// What its owner does with the secret half.
    public enum Kind: String, Sendable {
        case device
        case sender
    }

    /// Reads `push1…` or `pushsender1…`.
    public init(parsing text: String) throws(KeyTextError) {
        do {
            self = .device(try Recipient(parsing: text))
        } catch {
            guard error == .wrongKind else { throw error }
            self = .sender(try Sender(parsing: text))
        }
    }

    public var kind: Kind {
        switch self {
        case .device: .device
        case .sender: .sender
        }
    }

    public var keyID: KeyID {
        switch self {
        case .device(let recipient): recipient.keyID
        case .sender(let sender): sender.keyID
        }
    }

    /// The key's text.
    public var description: String {
        switch self {
        case .device(let recipient): recipient.description
        case .sender(let sender): sender.description
        }
    }
}

/// What anyone may know about a key in the keyring.
public struct KeyringEntry: Hashable, Sendable {
    public let name: KeyName
    public let key: PublicKey
    public let created: Timestamp
    /// Whether the secret half is here too.
    public let hasSecret: Bool
}

/// A key's name: 1 to 64 letters, digits, dots, hyphens and underscores, beginning with a letter or digit.
public struct KeyName: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// Nil unless the text is a name.
    public init?(parsing text: String) {
        func isLetterOrDigit(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: false
            }
        }
        guard (1...64).contains(text.utf8.count), let first = text.utf8.first, isLetterOrDigit(first),
            text.utf8.allSatisfy({ isLetterOrDigit($0) || Array(".-_".utf8).contains($0) })
        else { return nil }
        description = text
    }
}
