internal import PushCrypto
internal import SealedPush

/// How a keyring is sealed, as the file `keyring.txt` says: which kind of secret, and what its key is made with.
///
/// Nothing in it is secret; without it nothing can be opened.
struct KeyringSeal: Hashable {
    let kind: KeyringSecret.Kind
    private let salt: [UInt8]
    private let cost: Argon2id.Cost?

    static let path = "keyring.txt"

    /// A new seal, with a salt of its own.
    init(_ kind: KeyringSecret.Kind) {
        self.kind = kind
        salt = SecureRandom.bytes(count: Argon2id.saltByteCount)
        cost = kind == .passphrase ? .standard : nil
    }

    /// Nil for anything that ``text(under:)`` does not write; the MAC is checked by whoever has the key.
    init?(parsing bytes: [UInt8]) {
        guard let file = TextFile(parsing: bytes), file.paragraphCount == 1, file.hasMAC else { return nil }
        self.init(in: file)
    }

    /// Reads the first paragraph, which may hold these names besides.
    init?(in file: borrowing TextFile, besides others: Set<String> = []) {
        guard let kind = file.text("seal", in: 0).flatMap(KeyringSecret.Kind.init(rawValue:)),
            let salt = file.text("salt", in: 0).flatMap({ Base64URL.decode(Array($0.utf8)) }),
            salt.count == Argon2id.saltByteCount
        else { return nil }
        self.kind = kind
        self.salt = salt
        switch kind {
        case .passphrase:
            guard file.names(in: 0) == others.union(["seal", "salt", "operations", "memory"]),
                let operations = file.text("operations", in: 0).flatMap(UInt64.init),
                let memory = file.text("memory", in: 0).flatMap({ Int($0) }),
                let cost = Argon2id.Cost(operations: operations, memoryByteCount: memory)
            else { return nil }
            self.cost = cost
        case .key:
            guard file.names(in: 0) == others.union(["seal", "salt"]) else { return nil }
            cost = nil
        }
    }

    /// What tells this seal from every other one of the same keyring; not secret.
    var mark: SeenSeals.Mark { Base64URL.encode(salt) }

    /// The file, with a MAC that tells the right secret from any other.
    func text(under key: MasterKey) -> [UInt8] {
        var writer = TextFileWriter(
            comment: "How this keyring's secrets are sealed. Not secret; without it they can't be opened.",
            capacity: 512)
        write(to: &writer)
        return writer.finish(at: Self.path, under: key)
    }

    func write(to writer: inout TextFileWriter) {
        writer.field("seal", kind.rawValue)
        writer.field("salt", Base64URL.encode(salt))
        writer.field("operations", cost.map { String($0.operations) })
        writer.field("memory", cost.map { String($0.memoryByteCount) })
    }

    /// The key that this seal makes of a secret, right or wrong; about 0.2 s for a passphrase.
    func key(from secret: KeyringSecret) throws(KeyringError) -> MasterKey {
        switch (secret, kind) {
        case (.passphrase(let passphrase), .passphrase):
            var isDerived = false
            let key = MasterKey(
                StorageKey { output in
                    isDerived = passphrase.withBytes {
                        Argon2id.derive(from: $0, salt: salt, cost: cost ?? .standard, into: output)
                    }
                })
            guard isDerived else { throw .outOfMemory }
            return key
        case (.key(let key), .key):
            return key.withBytes { MasterKey(StorageKey(derivedFrom: $0, salt: salt)) }
        case (.passphrase, .key), (.key, .passphrase):
            throw .needsSecret(kind)
        }
    }
}

/// The key under which a sealed keyring's secrets and MACs are; several may hold it.
final class MasterKey: Sendable {
    let storage: StorageKey

    init(_ storage: consuming StorageKey) { self.storage = storage }
}
